"""Definitions: every bound at its field, what is stored of what was typed, what publishing needs,
how two of them differ."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import Invalid
from app.surveys.authoring.definition import (
    Definition,
    QuestionDefinition,
    checked,
    problems,
    tidy,
    unpublishable,
)
from app.surveys.authoring.differences import compare, merge, need_new_version
from app.surveys.authoring.field_names import name_of
from app.surveys.question_details import NO_DETAILS, Condition, QuestionDetails
from app.surveys.question_types import QUESTION_TYPES, WITH_OPTIONS
from app.surveys.rounds.repeats import Repeat
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH, defined

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MONTHLY = Repeat("month", 7, date(2026, 12, 31), times=6)


def raw(**fields: Any) -> Definition:
    return Definition(**{"title": "Lunch", "type": "feedback", "enforcement": "optional", **fields})


def detailed(one: QuestionDefinition, **details: Any) -> QuestionDefinition:
    return replace(one, details=QuestionDetails(**details))


def asking(**fields: Any) -> Definition:
    """With one question, a single choice unless it is said otherwise."""
    return raw(questions=(QuestionDefinition(**{"key": None, "label": "Which?", "type": "single_choice", **fields}),))


def fields_of(definition: Definition) -> list[str]:
    return [one.field for one in problems(tidy(definition))]


AT_THE_BOUND = [
    raw(title="x" * 200, category="c" * 100, message="m" * 20_000),
    raw(title="é" * 200),
    raw(title="e\u0301" * 200),  # two code points each before, one as stored
    raw(message="e\u0301" * 20_000),
    raw(message=f"<p>{'m' * 19_993}</p>"),
    raw(snooze_hours=1, cooldown_days=0, max_prompts=0),
    raw(snooze_hours=720, cooldown_days=365, max_prompts=100),
    raw(starts_at=NOW, ends_at=NOW + timedelta(microseconds=1)),
    raw(starts_at=datetime(1970, 1, 1, tzinfo=UTC), ends_at=datetime(9998, 12, 31, tzinfo=UTC)),
    raw(questions=tuple(QuestionDefinition(None, "q", "free_text") for _ in range(50))),
    asking(label="x" * 1000, options=tuple(f"{n:0200}" for n in range(50))),
    asking(label="two\nlines\tand a tab", options=()),
    asking(type="agreement", label="I agree."),
    raw(questions=()),
]


@pytest.mark.parametrize("definition", AT_THE_BOUND)
def test_what_reaches_a_bound_can_be_saved(definition: Definition) -> None:
    assert problems(tidy(definition)) == []


OVER_A_BOUND = [
    (raw(title=""), ["title"]),
    (raw(title=" \u3000\n"), ["title"]),
    (raw(title="\u200b\u200d"), ["title"]),
    (raw(title="x" * 201), ["title"]),
    (raw(title="two\nlines"), ["title"]),
    (raw(title="nul\x00"), ["title"]),
    (raw(title="half \ud83c"), ["title"]),
    (raw(type="quiz"), ["type"]),
    (raw(type=""), ["type"]),
    (raw(enforcement="forced"), ["enforcement"]),
    (raw(category="c" * 101), ["category"]),
    (raw(category="a\tb"), ["category"]),
    (raw(message="m" * 20_001), ["message"]),
    (raw(message="&" * 4001), ["message"]),  # each is five characters as stored
    (raw(message="bell\x07"), ["message"]),
    (raw(message="\ud800"), ["message"]),
    (raw(message="<em>" * 1001), ["message"]),
    (raw(message="x" * 30_001), ["message"]),
    (raw(closing_html="m" * 20_001), ["closing_html"]),
    (raw(closing_html="<em>" * 1001), ["closing_html"]),
    (raw(snooze_hours=0), ["snooze_hours"]),
    (raw(snooze_hours=721), ["snooze_hours"]),
    (raw(cooldown_days=-1), ["cooldown_days"]),
    (raw(cooldown_days=366), ["cooldown_days"]),
    (raw(max_prompts=-1), ["max_prompts"]),
    (raw(max_prompts=101), ["max_prompts"]),
    (raw(starts_at=NOW, ends_at=NOW), ["ends_at"]),
    (raw(starts_at=NOW, ends_at=NOW - timedelta(days=1)), ["ends_at"]),
    (raw(starts_at=datetime(1, 1, 1, tzinfo=UTC)), ["starts_at"]),
    (raw(starts_at=datetime(1969, 12, 31, tzinfo=UTC)), ["starts_at"]),
    (raw(ends_at=datetime(9999, 12, 31, tzinfo=UTC)), ["ends_at"]),
    (raw(starts_at=datetime(9999, 1, 1, tzinfo=UTC), ends_at=datetime(1, 1, 1, tzinfo=UTC)), ["starts_at", "ends_at"]),
    (raw(questions=tuple(QuestionDefinition(None, "q", "free_text") for _ in range(51))), ["questions"]),
    (asking(label=""), ["questions.0.label"]),
    (asking(label="x" * 1001), ["questions.0.label"]),
    (asking(label="esc\x1b"), ["questions.0.label"]),
    (asking(type="essay"), ["questions.0.type"]),
    (asking(options=("a", "x" * 201)), ["questions.0.options"]),
    (asking(options=("a\nb",)), ["questions.0.options"]),
    (asking(options=("a", "\u200b")), ["questions.0.options"]),
    (asking(options=("a", "\u3164")), ["questions.0.options"]),
    (asking(options=("a", "b\u202ec")), ["questions.0.options"]),
    (raw(title="Lunch\u2066"), ["title"]),
    (asking(options=("a", "b", "a")), ["questions.0.options"]),
    (asking(options=("a ", " a")), ["questions.0.options"]),
    (asking(options=("é", "e\u0301")), ["questions.0.options"]),
    (asking(options=tuple(map(str, range(51)))), ["questions.0.options"]),
    (raw(title="", type="", category="c" * 101), ["title", "type", "category"]),
]


@pytest.mark.parametrize(("definition", "fields"), OVER_A_BOUND)
def test_what_passes_a_bound_is_told_at_its_field(definition: Definition, fields: list[str]) -> None:
    assert fields_of(definition) == fields


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        (raw(message="x" * 30_001), "At most 20,000 characters"),
        (raw(message="<em>" * 1001), "too much markup"),
        (asking(type="free_text", options=("a",)), "This kind of question (free text) takes no options"),
    ],
)
def test_a_problem_is_told_by_what_it_is(definition: Definition, told: str) -> None:
    (problem,) = problems(tidy(definition))
    assert told in problem.message


FIRST_ONE = QuestionDefinition(None, "Which?", "single_choice", ("x", "y"))


def details_of(kind: str, **details: Any) -> Definition:
    """A survey whose second question has these details; its first is a choice of x and y."""
    options = ("a", "b") if kind in WITH_OPTIONS else ()
    return raw(questions=(FIRST_ONE, detailed(QuestionDefinition(None, "So?", kind, options), **details)))


@pytest.mark.parametrize(
    "definition",
    [
        details_of("scale", low_label="l" * 100, high_label="h" * 100),
        details_of("star_rating", low_label="bad", high_label="good"),
        details_of("nps", low_label="never", high_label="for sure"),
        details_of("number", min=-999_999_999, max=999_999_999, unit="u" * 20),
        details_of("number", min=0.5, max=0.5),
        details_of("number", min=0),
        details_of("matrix", rows=tuple(f"{n:0200}" for n in range(50))),
        details_of("free_text", page=True, show_if=Condition(1, ("x", "y"))),
        details_of("date", show_if=Condition(1, (" x ",), negated=True)),
    ],
)
def test_details_within_their_bounds_can_be_saved(definition: Definition) -> None:
    assert problems(tidy(definition)) == []


ODD = "takes no"
BAD_DETAILS = [
    (details_of("free_text", low_label="bad"), "questions.1.low_label", ODD),
    (details_of("single_choice", high_label="good"), "questions.1.high_label", ODD),
    (details_of("scale", min=1), "questions.1.min", ODD),
    (details_of("date", max=0), "questions.1.max", ODD),
    (details_of("nps", unit="points"), "questions.1.unit", ODD),
    (details_of("single_choice", rows=("a",)), "questions.1.rows", ODD),
    (details_of("scale", low_label="l" * 101), "questions.1.low_label", "At most 100"),
    (details_of("scale", high_label="two\nlines"), "questions.1.high_label", "one line"),
    (details_of("number", unit="u" * 21), "questions.1.unit", "At most 20"),
    (details_of("number", min=10**9), "questions.1.min", "at most six decimals"),
    (details_of("number", max=0.0000001), "questions.1.max", "at most six decimals"),
    (details_of("number", min=2, max=1.5), "questions.1.max", "below the smallest"),
    (details_of("matrix", rows=("a", " a")), "questions.1.rows", "used twice"),
    (details_of("matrix", rows=("a\tb",)), "questions.1.rows", "one line"),
    (details_of("matrix", rows=tuple(map(str, range(51)))), "questions.1.rows", "At most 50 rows"),
    (details_of("free_text", show_if=Condition(2, ("x",))), "questions.1.show_if", "an earlier question"),
    (details_of("free_text", show_if=Condition(3, ("x",))), "questions.1.show_if", "an earlier question"),
    (details_of("free_text", show_if=Condition(0, ("x",))), "questions.1.show_if", "an earlier question"),
    (details_of("free_text", show_if=Condition(1, ())), "questions.1.show_if", "at least one answer"),
    (
        details_of("free_text", show_if=Condition(1, ("x", "z"))),
        "questions.1.show_if",
        "“z” is not an answer of question 1",
    ),
    (details_of("agreement", show_if=Condition(1, ("x",))), "questions.1.show_if", "An agreement is always shown"),
]


@pytest.mark.parametrize(("definition", "field", "told"), BAD_DETAILS)
def test_a_detail_that_can_not_stand_is_told_at_its_field(definition: Definition, field: str, told: str) -> None:
    (problem,) = problems(tidy(definition))
    assert problem.field == field
    assert told in problem.message


@pytest.mark.parametrize("kind", ["number", "date", "matrix", "free_text", "agreement"])
def test_a_condition_asks_about_a_question_whose_answers_can_be_listed(kind: str) -> None:
    options = ("x", "y") if kind in WITH_OPTIONS else ()
    rows = {"rows": ("x",)} if kind == "matrix" else {}
    first = detailed(QuestionDefinition(None, "Which?", kind, options), **rows)
    second = detailed(QuestionDefinition(None, "So?", "free_text"), show_if=Condition(1, ("x",)))
    assert fields_of(raw(questions=(first, second))) == ["questions.1.show_if"]


@pytest.mark.parametrize(("kind", "least", "most"), [("star_rating", 1, 5), ("nps", 0, 10)])
def test_a_condition_names_stars_and_scores_by_their_numbers(kind: str, least: int, most: int) -> None:
    def problem(value: Any) -> bool:
        second = detailed(QuestionDefinition(None, "So?", "free_text"), show_if=Condition(1, (value,)))
        return bool(fields_of(raw(questions=(QuestionDefinition(None, "How?", kind), second))))

    assert [problem(value) for value in (least, most, least - 1, most + 1, str(least), True)] == [
        False, False, True, True, True, True,
    ]  # fmt: skip


def test_a_condition_that_asks_about_the_same_question_elsewhere_is_no_difference() -> None:
    asked, other = replace(FIRST, label="Which?"), replace(SECOND, details=QuestionDetails())
    third = QuestionDefinition(uuid4(), "So?", "free_text", details=QuestionDetails(show_if=Condition(1, ("x",))))
    moved = detailed(third, show_if=Condition(2, ("x",)))
    found = compare(
        replace(WITH_IDS, questions=(asked, other, third)), replace(WITH_IDS, questions=(other, asked, moved))
    )
    assert [one.name for one in found] == ["Order of the questions"]


def test_the_first_question_begins_a_page_anyway() -> None:
    first = detailed(FIRST_ONE, page=True)
    assert tidy(raw(questions=(first, first))).questions[0].details == NO_DETAILS
    assert tidy(raw(questions=(first, first))).questions[1].details.page


@pytest.mark.parametrize("kind", sorted(set(QUESTION_TYPES) - WITH_OPTIONS))
def test_a_question_that_is_no_choice_takes_no_options(kind: str) -> None:
    assert fields_of(asking(type=kind, options=("a", "b"))) == ["questions.0.options"]


def test_at_most_one_question_is_the_agreement() -> None:
    agreement = QuestionDefinition(None, "I agree.", "agreement")
    wrong = raw(questions=(agreement, QuestionDefinition(None, "Why?", "free_text"), agreement))
    assert fields_of(wrong) == ["questions.2.type"]


def test_two_questions_never_share_an_id() -> None:
    one = QuestionDefinition(uuid4(), "Why?", "free_text")
    assert fields_of(raw(questions=(one, one))) == ["questions.0", "questions.1"]


def test_a_refusal_names_the_first_problems_and_holds_all_of_them() -> None:
    with pytest.raises(Invalid) as refused:
        checked(raw(title="", type="", enforcement="", category="c" * 101, snooze_hours=0))
    assert refused.value.message.startswith("The survey can't be saved. Title: Give the survey a title; Type: Choose")
    assert refused.value.message.endswith(" And 2 more.")
    assert len(refused.value.details) == 5
    with pytest.raises(Invalid) as three:
        checked(raw(title="", category="c" * 101, snooze_hours=0))
    assert three.value.message.endswith("; Snooze: Give 1 to 720 hours.")


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("title", "Title"),
        ("ends_at", "Ends"),
        ("questions", "Questions"),
        ("questions.1", "Question 2"),
        ("questions.1.label", "Question 2, text"),
        ("questions.0.bogus", "Question 1, bogus"),
        ("questions.x.y", "questions"),
        ("bogus", "bogus"),
        ("bogus.1", "bogus"),
    ],
)
def test_fields_are_called_what_people_call_them(field: str, name: str) -> None:
    assert name_of(field) in (name, name.capitalize())


def test_texts_are_stored_trimmed_in_nfc_and_the_message_sanitised() -> None:
    stored = checked(
        raw(
            title="  Cafe\u0301 ",
            message="<b>Hi</b>\r\nyou",
            closing_html="<b onclick='x'>Bye</b><script>no</script>",
            category=" \n ",
            user_types=("staff", "admin", "staff"),
            questions=(QuestionDefinition(None, " Which?\r\nOne. ", "scale", (" lo\u0301w ", "", "  ", "high")),),
        )
    )
    assert (stored.title, stored.message, stored.category) == ("Café", "Hi\nyou", None)
    assert stored.closing_html == "Bye"
    assert stored.user_types == ("admin", "staff")
    assert stored.questions == (QuestionDefinition(None, "Which?\nOne.", "scale", ("lów", "high")),)


def test_an_agreement_is_always_required() -> None:
    assert defined(questions=[CONSENT]).questions[0].required


def test_optional_pacing_has_its_defaults_and_required_has_none() -> None:
    optional, required = defined(), defined(enforcement="required", snooze_hours=4, cooldown_days=2, max_prompts=1)
    assert (optional.snooze_hours, optional.cooldown_days, optional.max_prompts) == (24, 1, 5)
    assert (required.snooze_hours, required.cooldown_days, required.max_prompts) == (None, None, None)


PUBLISHABLE = [
    (defined(), []),
    (defined(starts_at=NOW + timedelta(days=1)), []),
    (defined(ends_at=NOW + timedelta(microseconds=1)), []),
    (defined(ends_at=NOW), ["ends_at"]),
    (defined(questions=[]), ["questions"]),
    (defined(questions=[LUNCH]), []),
    (defined(questions=[HOW_WAS_IT, {**LUNCH, "options": ["only"]}]), ["questions.1.options"]),
    (defined(questions=[{"label": "?", "type": "scale"}]), ["questions.0.options"]),
    (defined(questions=[{"label": "?", "type": "multiple_choice", "options": ["a"]}]), ["questions.0.options"]),
]


@pytest.mark.parametrize(("definition", "fields"), PUBLISHABLE)
def test_publishing_needs_questions_with_options_and_a_window_that_is_not_over(
    definition: Definition, fields: list[str]
) -> None:
    assert [one.field for one in unpublishable(definition, NOW)] == fields


TEXTS = st.sampled_from(["a", "b", "é", "e\u0301", " a", "a\n"])
DETAILS = st.builds(
    QuestionDetails,
    low_label=st.just("") | TEXTS,
    min=st.sampled_from([None, 0, 2, 0.5]),
    unit=st.sampled_from(["", "km"]),
    rows=st.lists(TEXTS, max_size=2).map(tuple),
    page=st.booleans(),
    show_if=st.none() | st.builds(Condition, st.just(1), st.sampled_from([("a",), ("a", 1), (1,)]), st.booleans()),
)
QUESTIONS = st.builds(
    QuestionDefinition,
    st.sampled_from([None, UUID(int=1)]),
    TEXTS,
    st.sampled_from(["scale", "single_choice", "free_text", "agreement", "nps", "matrix"]),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.booleans(),
    st.just(NO_DETAILS) | DETAILS,
)
DEFINITIONS = st.builds(
    Definition,
    title=TEXTS,
    type=st.sampled_from(["poll", "consent"]),
    enforcement=st.sampled_from(["optional", "required"]),
    message=st.sampled_from(["", "a", "e\u0301", "é"]),
    closing_html=st.sampled_from(["", "a", "é"]),
    anonymity=st.sampled_from(["named", "anonymous"]),
    split=st.sampled_from([None, "type"]),
    category=st.none() | TEXTS,
    user_types=st.sampled_from([(), ("staff",)]),
    starts_at=st.none() | st.just(NOW),
    snooze_hours=st.sampled_from([None, 1, 2]),
    repeat=st.none() | st.just(MONTHLY),
    remind_days=st.none() | st.just(3),
    questions=st.lists(QUESTIONS, max_size=2).map(tuple),
).map(tidy)


def content_of(definition: Definition) -> Any:
    asked = [(one.label, one.type, one.options, one.required, one.details) for one in definition.questions]
    whose = (definition.anonymity, definition.split if definition.is_anonymous else None)
    words = definition.title, definition.message, definition.closing_html
    return *words, definition.type, definition.enforcement, whose, asked


@settings(max_examples=100, deadline=None)
@given(DEFINITIONS, DEFINITIONS)
def test_the_hash_changes_exactly_when_the_content_does(one: Definition, other: Definition) -> None:
    assert (one.content_hash == other.content_hash) == (content_of(one) == content_of(other))


@pytest.mark.parametrize(
    "changed",
    [
        {"category": "Canteen"},
        {"user_types": ("staff",)},
        {"tenants": ("acme",)},
        {"starts_at": NOW},
        {"ends_at": NOW},
        {"snooze_hours": 7},
        {"cooldown_days": 7},
        {"max_prompts": 7},
        {"repeat": MONTHLY},
        {"remind_days": 7},
        {"questions": (QuestionDefinition(uuid4(), "How was it?", "free_text"),)},
    ],
)
def test_window_audience_pacing_category_and_ids_are_no_content(changed: dict[str, Any]) -> None:
    one = defined()
    assert replace(one, **changed).content_hash == one.content_hash


@settings(max_examples=100, deadline=None)
@given(DEFINITIONS)
def test_tidying_twice_changes_nothing(one: Definition) -> None:
    assert tidy(one) == one


A, B, C = uuid4(), uuid4(), uuid4()
WITH_IDS = defined(
    questions=[
        {"key": A, "label": "Which?", "type": "single_choice", "options": ["x", "y"]},
        {"key": B, "label": "Why?", "type": "free_text"},
    ]
)
FIRST, SECOND = WITH_IDS.questions
AGREED = defined(questions=[{"key": C, **CONSENT}])

CHANGES = [
    # (what changes, field, name, before, after, content, correction)
    ({"title": "Dinner"}, ("title", "Title", "Lunch", "Dinner", True, True)),
    ({"message": "<p>Hi</p>"}, ("message", "Message", "", "Hi", True, True)),
    ({"closing_html": "<p>Bye</p>"}, ("closing_html", "Closing words", "", "Bye", True, True)),
    ({"type": "poll"}, ("type", "Type", "Feedback", "Poll", True, False)),
    ({"enforcement": "required"}, ("enforcement", "Enforcement", "Optional", "Required", True, False)),
    ({"category": "Food"}, ("category", "Category", "–", "Food", False, False)),
    ({"user_types": ("admin", "staff")}, ("user_types", "User types", "Everyone", "admin, staff", False, False)),
    ({"tenants": ("acme",)}, ("tenants", "Tenants", "Everyone", "acme", False, False)),
    ({"starts_at": NOW}, ("starts_at", "Starts", "–", "Sat 21 Nov 2026, 12:00 UTC", False, False)),
    ({"remind_days": 3}, ("remind_days", "Remind", "–", "3", False, False)),
    ({"repeat": MONTHLY}, ("repeat", "Ask again", "–", MONTHLY.sentence, False, False)),
    ({"snooze_hours": 2}, ("snooze_hours", "Snooze", "24", "2", False, False)),
    ({"questions": (replace(FIRST, label="What?"), SECOND)}, ("questions.0.label", "Question 1, text", "Which?", "What?", True, True)),
    ({"questions": (FIRST, replace(SECOND, type="star_rating"))}, ("questions.1.type", "Question 2, type", "Free text", "Star rating", True, False)),
    ({"questions": (replace(FIRST, options=("y", "x")), SECOND)}, ("questions.0.options", "Question 1, options", "x · y", "y · x", True, False)),
    ({"questions": (FIRST, replace(SECOND, required=True))}, ("questions.1.required", "Question 2, required", "No", "Yes", True, False)),
    ({"questions": (detailed(FIRST, low_label="never"), SECOND)}, ("questions.0.low_label", "Question 1, words for the low end", "–", "never", True, False)),
    ({"questions": (detailed(FIRST, high_label="always"), SECOND)}, ("questions.0.high_label", "Question 1, words for the high end", "–", "always", True, False)),
    ({"questions": (FIRST, detailed(SECOND, min=0))}, ("questions.1.min", "Question 2, smallest number", "–", "0", True, False)),
    ({"questions": (FIRST, detailed(SECOND, max=2.5))}, ("questions.1.max", "Question 2, largest number", "–", "2.5", True, False)),
    ({"questions": (FIRST, detailed(SECOND, unit="km"))}, ("questions.1.unit", "Question 2, unit", "–", "km", True, False)),
    ({"questions": (FIRST, detailed(SECOND, rows=("a", "b")))}, ("questions.1.rows", "Question 2, rows", "–", "a · b", True, False)),
    ({"questions": (FIRST, detailed(SECOND, page=True))}, ("questions.1.page", "Question 2, new page", "No", "Yes", True, False)),
    ({"questions": (FIRST, detailed(SECOND, show_if=Condition(1, ("x",))))}, ("questions.1.show_if", "Question 2, condition", "Always shown", "Only if the answer to “Which?” is “x”.", True, False)),
    ({"questions": (SECOND, FIRST)}, ("questions", "Order of the questions", "Which? · Why?", "Why? · Which?", True, False)),
    ({"questions": (FIRST,)}, ("questions", "Question 2, removed", "Why?", "–", True, False)),
    ({"questions": (QuestionDefinition(None, "New?", "free_text"), FIRST, SECOND)}, ("questions.0", "Question 1, added", "–", "New?", True, False)),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "told"), CHANGES)
def test_each_difference_is_told_once_with_what_it_means(changed: dict[str, Any], told: tuple[Any, ...]) -> None:
    new = replace(WITH_IDS, **changed)
    (one,) = compare(WITH_IDS, new)
    before = "" if one.field == "message" else told[2]
    assert (one.field, one.name, one.before, one.after, one.content, one.correction) == (*told[:2], before, *told[3:])
    needs = told[4] and not told[5]
    assert [each.field for each in need_new_version(WITH_IDS, new)] == ([one.field] if needs else [])


@pytest.mark.parametrize("changed", [changed for changed, _ in CHANGES])
def test_a_field_that_was_left_alone_takes_the_new_value_and_another_keeps_what_was_typed(
    changed: dict[str, Any],
) -> None:
    new, typed = replace(WITH_IDS, **changed), replace(WITH_IDS, max_prompts=7)
    assert merge(WITH_IDS, typed, new) == (replace(typed, **changed), frozenset())
    assert merge(WITH_IDS, new, new) == (new, frozenset()), "both changed it to the same"
    assert merge(WITH_IDS, new, WITH_IDS) == (new, frozenset()), "no other person changed it"


def test_what_both_changed_stays_as_typed_and_is_named() -> None:
    theirs = replace(WITH_IDS, title="Supper", starts_at=NOW, questions=(SECOND,))
    mine = replace(WITH_IDS, title="Dinner", questions=(FIRST,))
    assert merge(WITH_IDS, mine, theirs) == (replace(mine, starts_at=NOW), {"title", "questions"})


def test_a_time_that_the_form_shows_to_the_second_was_left_alone() -> None:
    exact = replace(WITH_IDS, starts_at=NOW + timedelta(microseconds=7))
    theirs = replace(WITH_IDS, starts_at=NOW + timedelta(days=1))
    assert merge(exact, replace(WITH_IDS, starts_at=NOW), theirs) == (theirs, frozenset())


def test_changed_markup_alone_is_shown_as_markup() -> None:
    (one,) = compare(*(replace(WITH_IDS, message=f"<{tag}>Hi</{tag}>") for tag in ("em", "strong")))
    assert (one.before, one.after) == ("<em>Hi</em>", "<strong>Hi</strong>")


def test_a_question_with_the_same_words_and_another_id_is_another_question() -> None:
    same_words = replace(WITH_IDS, questions=(FIRST, replace(SECOND, key=uuid4())))
    assert same_words.content_hash == WITH_IDS.content_hash
    assert [one.name for one in need_new_version(WITH_IDS, same_words)] == ["Question 2, added", "Question 2, removed"]


@pytest.mark.parametrize(
    "changed", [{"title": "Other"}, {"message": "m"}, {"questions": (replace(AGREED.questions[0], label="I do."),)}]
)
def test_where_people_agree_every_change_of_content_needs_a_new_version(changed: dict[str, Any]) -> None:
    assert need_new_version(AGREED, replace(AGREED, **changed))


def test_so_it_does_where_people_agree_before_or_afterwards_alone() -> None:
    without, agreed = defined(title="Other"), replace(AGREED, title="Lunch")
    for old, new in ((without, agreed), (agreed, without)):
        assert "title" in [one.field for one in need_new_version(old, new)]


def test_where_people_agree_audience_window_pacing_and_category_are_still_free() -> None:
    changed = replace(AGREED, category="c", user_types=("staff",), ends_at=NOW, snooze_hours=2)
    assert len(compare(AGREED, changed)) == 4
    assert need_new_version(AGREED, changed) == ()


def test_nothing_differs_from_itself() -> None:
    assert compare(WITH_IDS, WITH_IDS) == ()
