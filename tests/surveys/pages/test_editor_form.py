"""The editor's form without a browser: rows and their buttons, what was typed as a definition,
errors at their fields."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from litestar.datastructures import FormMultiDict

from app.surveys.authoring.definition import checked
from app.surveys.pages import editor_questions
from app.surveys.pages.editing import conditions
from app.surveys.pages.editing.fields import Offered
from app.surveys.pages.editor_form import Draft, filled, read
from app.surveys.pages.editor_questions import Row, press
from app.surveys.question_details import Condition, QuestionDetails
from tests.surveys.drafted import LUNCH, defined

KEY = UUID(int=7)
TYPES = {"staff": "Staff", "employee": "Employee"}
PLATFORM = Offered(TYPES, {"main": "main", "acme": "acme: Acme"}, "full")
TENANT = Offered(TYPES, None, "optional")
ABC = [Row("a"), Row("b", removed=True), Row("c")]


def posted(**fields: Any) -> FormMultiDict:
    """A form with a title and one question, and what is given; underscores before a row's name are dashes."""
    whole = {"title": "Lunch", "type": "feedback", "enforcement": "optional", "message": "", **fields}
    pairs = []
    for name, value in whole.items():
        key = name.replace("__", "-")
        pairs += [(key, one) for one in value] if isinstance(value, list) else [(key, value)]
    return FormMultiDict(pairs)


def typed(offered: Offered = PLATFORM, **fields: Any) -> Draft:
    return read(offered, posted(**fields))


@pytest.mark.parametrize(
    ("button", "names", "focus"),
    [
        ("add", "a b c q1", "f-label-q1"),
        ("duplicate:a", "a q1 b c", "f-label-q1"),
        ("up:c", "c a b", "up-c"),
        ("down:a", "b c a", "down-a"),
        ("up:a", "a b c", "up-a"),
        ("down:c", "a b c", "down-c"),
        ("remove:unknown", "a b c", ""),
        ("explode:a", "a b c", ""),
        ("", "a b c", ""),
    ],
)
def test_a_button_moves_rows_and_says_where_the_focus_goes(button: str, names: str, focus: str) -> None:
    rows, focused = press(ABC, button)
    assert ([row.name for row in rows], focused) == (names.split(), focus)


def test_a_removed_row_stays_until_it_is_saved_and_comes_back_with_what_it_held() -> None:
    rows = [Row("a", str(KEY), "Why?", "scale", "1\n2", required=True)]
    gone, focus = press(rows, "remove:a")
    assert (gone[0].removed, focus, editor_questions.live(gone)) == (True, "restore-a", [])
    back, focus = press(gone, "restore:a")
    assert (back, focus) == (rows, "f-label-a")


def test_a_copy_is_a_question_of_its_own() -> None:
    rows, _ = press([Row("a", str(KEY), "Why?", "scale", "1\n2")], "duplicate:a")
    assert [(row.key, row.label, row.options) for row in rows] == [(str(KEY), "Why?", "1\n2"), ("", "Why?", "1\n2")]


def test_the_rows_are_read_in_their_order_and_nonsense_is_none() -> None:
    draft = typed(
        question=["b", "a", "b", "../x", "Ä"],
        label__a="First?", type__a="free_text", key__a="no-uuid", required__a="1",
        label__b="Second?", type__b="single_choice", options__b="x\r\ny\r\n\r\n z ", key__b=str(KEY),
    )  # fmt: skip
    second, first = draft.definition.questions
    assert (second.key, second.label, second.options, second.required) == (KEY, "Second?", ("x", "y", "z"), False)
    assert (first.key, first.label, first.required) == (None, "First?", True)
    assert draft.ok


def test_options_of_a_type_that_takes_none_are_left_out_and_stay_in_the_form() -> None:
    draft = typed(question="a", label__a="Why?", type__a="free_text", options__a="x\ny")
    assert (draft.ok, draft.definition.questions[0].options, draft.rows[0].options) == (True, (), "x\ny")


def test_every_error_stands_at_its_field_and_removed_rows_are_not_counted() -> None:
    draft = typed(
        title="", snooze_hours="721", starts_at="2026-12-02T08:00", ends_at="2026-12-01T08:00",
        question=["a", "b", "c"], removed__a="1", label__b="", type__b="star_rating",
        label__c="x", type__c="scale", options__c="1\n1",
    )  # fmt: skip
    assert sorted(draft.form.errors) == ["ends_at", "snooze_hours", "title"]
    assert [sorted(row.errors) for row in draft.rows] == [[], ["label"], ["options"]]
    anchors = [anchor for anchor, _ in draft.summary]
    assert anchors == ["title", "ends_at", "snooze_hours", "label-b", "options-c"]
    assert draft.summary[3][1].startswith("Question 1: ")
    draft.forgive()
    assert draft.ok


def test_times_are_utc_and_keep_what_the_form_cannot_show() -> None:
    exact = datetime(2026, 12, 1, 8, 0, 5, 250_000, tzinfo=UTC)
    stored = defined(starts_at=exact)
    shown = filled(PLATFORM, stored, 1).form.shown["starts_at"]
    assert shown == "2026-12-01T08:00:05"
    assert read(PLATFORM, posted(starts_at=shown), stored).definition.starts_at == exact
    other = read(PLATFORM, posted(starts_at="2026-12-01T09:00"), stored)
    assert other.definition.starts_at == datetime(2026, 12, 1, 9, tzinfo=UTC)


DETAILED = [
    {**LUNCH, "key": KEY},
    {"label": "How far?", "type": "number", "min": -0.5, "max": 10, "unit": "km", "page": True, "key": UUID(int=8)},
    {"label": "Soup?", "type": "matrix", "options": ["a", "b"], "rows": ["x", "y"], "key": UUID(int=9)},
    {"label": "Score?", "type": "nps", "low_label": "never", "high_label": "ever", "key": UUID(int=10),
     "show_if": {"question": 1, "is": "not_in", "values": ["Bad"]}},
]  # fmt: skip


def test_a_shown_survey_with_details_reads_back_as_it_was() -> None:
    stored = defined(questions=DETAILED)
    rows = filled(PLATFORM, stored, 3).rows
    assert checked(replace(stored, questions=editor_questions.questions(rows))) == stored


def test_a_shown_survey_reads_back_as_it_was() -> None:
    stored = defined(questions=[{**LUNCH, "key": KEY}], user_types=["staff"], tenants=["main"], category="Canteen")
    draft = filled(PLATFORM, stored, 3)
    fields: dict[str, Any] = {name: value for name, value in draft.form.shown.items() if value != ""}
    row = draft.rows[0]
    again = read(
        PLATFORM,
        posted(
            **fields, question=row.name, label__q1=row.label, type__q1=row.type, options__q1=row.options,
            required__q1="1", key__q1=row.key, revision="3",
        ),
        stored,
    )  # fmt: skip
    assert (again.definition, again.revision, again.ok) == (stored, 3, True)


def test_details_are_read_by_the_type_of_their_question_and_stay_in_the_form() -> None:
    draft = typed(
        question=["a", "b", "c", "d"],
        label__a="How far?", type__a="number", min__a=" 0 ", max__a="99,5", unit__a="km", low_label__a="left behind",
        label__b="How is it?", type__b="matrix", options__b="Good\nBad", rows__b="Soup\n\n Cake ", page__b="1",
        label__c="Score?", type__c="nps", low_label__c="never", high_label__c="for sure", unit__c="left behind",
        label__d="Why?", type__d="free_text", show_if__d="c", is__d="not_in", values__d=["9", "10"],
    )  # fmt: skip
    assert draft.ok, draft.summary
    assert [one.details for one in draft.definition.questions] == [
        QuestionDetails(min=0, max=99.5, unit="km"),
        QuestionDetails(rows=("Soup", "Cake"), page=True),
        QuestionDetails(low_label="never", high_label="for sure"),
        QuestionDetails(show_if=Condition(3, (9, 10), negated=True)),
    ]
    assert (draft.rows[0].low_label, draft.rows[2].unit) == ("left behind", "left behind")


@pytest.mark.parametrize(
    ("fields", "anchor", "told"),
    [
        ({"type__a": "number", "min__a": "1,000"}, "min-a", "Write a thousand as 1000"),
        ({"type__a": "number", "max__a": "many"}, "max-a", "Give a number"),
        ({"type__a": "free_text", "show_if__a": "gone"}, "show_if-a", "an earlier question"),
        ({"type__a": "free_text", "show_if__a": "a"}, "show_if-a", "an earlier question"),
    ],
)
def test_a_detail_that_can_not_stand_is_said_at_its_field(fields: dict[str, str], anchor: str, told: str) -> None:
    draft = typed(question="a", label__a="So?", **fields)
    assert [name for name, _ in draft.summary] == [anchor]
    assert told in draft.summary[0][1]


def test_an_answer_of_thousands_of_digits_is_refused_at_its_condition() -> None:
    draft = typed(
        question=["a", "b"],
        label__a="Stars?", type__a="star_rating",
        label__b="Why?", type__b="free_text", show_if__b="a", is__b="in", values__b=["9" * 5_000],
    )  # fmt: skip
    assert [name for name, _ in draft.summary] == ["show_if-b"]


def test_a_bound_with_three_decimals_stays_what_it_is_when_the_form_is_saved_again() -> None:
    saved = defined(questions=[{"label": "How far?", "type": "number", "min": 1.234}])
    (row,) = editor_questions.show(saved.questions)
    assert editor_questions.questions([row])[0].details.min == 1.234


def test_a_condition_follows_its_question_wherever_it_goes_and_says_when_it_is_gone() -> None:
    rows = [Row("a", label="Which?", type="scale", options="x\ny"), Row("b", label="So?", show_if="a", values=("x",))]
    assert editor_questions.questions(rows)[1].details.show_if == Condition(1, ("x",))
    before = [Row("new", label="New?"), *rows]
    assert editor_questions.questions(before)[2].details.show_if == Condition(2, ("x",))
    gone, _ = press(rows, "remove:a")
    assert editor_questions.questions(gone)[0].details.show_if == Condition(0, ("x",))


def test_a_button_fills_in_a_ready_made_set() -> None:
    rows, focus = press([Row("a", type="scale", options="mine", ready_made="1 to 5")], "fill:a")
    assert (rows[0].options.split(), focus) == (["1", "2", "3", "4", "5"], "f-options-a")
    kept, _ = press([Row("a", type="scale", options="mine")], "fill:a")
    assert kept[0].options == "mine"


def test_the_ready_made_sets_are_options_that_a_question_takes() -> None:
    for lines in editor_questions.READY_MADE.values():
        assert defined(questions=[{"label": "So?", "type": "scale", "options": lines.split("\n")}])


def test_a_condition_is_offered_the_questions_above_and_the_answers_of_the_one_that_is_chosen() -> None:
    rows = [
        Row("a", label="Which?", type="single_choice", options="x\n y \nx"),
        Row("b", label="Why?", type="free_text"),
        Row("c", label="Stars?", show_if="a", values=("y", "z")),
        Row("d", label="So?", show_if="c", values=("5",)),
        Row("e", label="Gone?", show_if="removed"),
    ]
    offers = conditions.offers(rows)
    assert [one.text for one in offers["c"].rows] == ["1. Which?"]
    assert [(one.text, one.ticked, one.lost) for one in offers["c"].answers] == [
        ("x", False, False), ("y", True, False), ("z", True, True),
    ]  # fmt: skip
    assert [one.text for one in offers["d"].rows] == ["1. Which?", "3. Stars?"]
    assert [one.text for one in offers["d"].answers if one.ticked] == ["5"]
    assert [one.lost for one in offers["e"].rows] == [False, False, False, True]


@pytest.mark.parametrize("revision", ["①", "²", "٣", "-1", "1.0", "x", "9" * 10, " "])
def test_a_revision_that_is_no_number_of_ours_is_none_and_breaks_nothing(revision: str) -> None:
    assert typed(revision=revision).revision is None


def test_a_tenant_is_offered_no_tenants_and_nothing_above_its_ceiling() -> None:
    draft = typed(TENANT, enforcement="required", tenants="acme")
    assert "tenants" not in TENANT.form.fields
    assert draft.definition.tenants == ("acme",)
    assert "enforcement" in draft.form.errors


def test_a_type_that_the_list_lost_is_still_offered_where_it_stands() -> None:
    offered = PLATFORM.including(defined(user_types=["gone"], tenants=["lost"]))
    draft = read(offered, posted(user_types=["gone"], tenants=["lost"]))
    assert (draft.ok, draft.definition.user_types, draft.definition.tenants) == (True, ("gone",), ("lost",))
    assert not read(PLATFORM, posted(user_types=["gone"])).ok


def test_what_the_message_loses_is_named() -> None:
    draft = typed(message="<p>Hi <b>you</b> <big>there</big></p>")
    assert draft.stripped == ("<big>",)
    assert draft.definition.message == "<p>Hi <strong>you</strong> there</p>"
    assert typed(message="<p>Hi</p>").stripped == ()
    assert typed(closing_html="<img>Bye").stripped == ("<img> in the closing words",)


def test_a_required_survey_has_no_pacing_whatever_was_typed() -> None:
    draft = typed(enforcement="required", snooze_hours="5", cooldown_days="2", max_prompts="3")
    assert (draft.definition.snooze_hours, draft.definition.cooldown_days, draft.definition.max_prompts) == (None,) * 3
