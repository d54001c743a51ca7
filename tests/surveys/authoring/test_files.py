"""A survey as a file: what can be read, what is refused by name, and that writing and reading change nothing."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings

from app.errors import Invalid
from app.surveys.authoring import files
from app.surveys.authoring.definition import Definition, QuestionDefinition, checked
from app.surveys.authoring.stored import Stored
from app.surveys.question_details import NO_DETAILS, Condition, QuestionDetails
from tests.surveys.authoring.test_definition import DEFINITIONS
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH, defined

SMALLEST = {"title": "Lunch", "type": "feedback", "enforcement": "optional"}
OF_THE_CONTRACT = b"""
{"format": "muster.survey/1", "title": "Lunch", "type": "feedback", "enforcement": "optional",
 "message": "<p>...</p>", "category": "Canteen", "user_types": ["staff"], "tenants": ["acme"],
 "starts_at": "2026-12-01T08:00:00Z", "ends_at": null, "snooze_hours": 24, "cooldown_days": 1, "max_prompts": 5,
 "questions": [{"question": "q1", "label": "How was it?", "type": "scale", "options": ["low", "high"], "required": true}]}
"""
NOW = datetime(2026, 11, 21, 12, 0, 0, 250_000, tzinfo=UTC)


def read(**fields: Any) -> Definition:
    return files.read(json.dumps({**SMALLEST, **fields}).encode())


def refused(raw: bytes) -> Invalid:
    with pytest.raises(Invalid) as raised:
        files.read(raw)
    return raised.value


def wrong(**fields: Any) -> list[str]:
    return [one.field for one in refused(json.dumps({**SMALLEST, **fields}).encode()).details]


def test_the_file_of_the_contract_is_read() -> None:
    assert files.read(OF_THE_CONTRACT) == Definition(
        title="Lunch",
        type="feedback",
        enforcement="optional",
        message="<p>...</p>",
        category="Canteen",
        user_types=("staff",),
        tenants=("acme",),
        starts_at=datetime(2026, 12, 1, 8, tzinfo=UTC),
        snooze_hours=24,
        cooldown_days=1,
        max_prompts=5,
        questions=(QuestionDefinition(None, "How was it?", "scale", ("low", "high"), required=True),),
    )


def test_what_is_missing_is_nothing_or_has_its_default() -> None:
    assert checked(read()) == defined(questions=[])
    empty = dict.fromkeys(
        (
            "message",
            "closing_html",
            "category",
            "user_types",
            "tenants",
            "starts_at",
            "ends_at",
            "snooze_hours",
            "max_prompts",
            "repeat",
            "remind_days",
            "questions",
        )
    )
    assert read(**empty) == read()
    assert read(questions=[{"label": "Why?", "type": "free_text"}]).questions == (
        QuestionDefinition(None, "Why?", "free_text"),
    )


def test_what_an_export_adds_is_passed_over() -> None:
    assert read(**{key: {"any": ["thing"]} for key in files.EXPORTED}) == read()


def test_a_byte_order_mark_is_passed_over() -> None:
    assert files.read(b"\xef\xbb\xbf" + json.dumps(SMALLEST).encode()) == read()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"titel": "x"}, "titel"),
        ({"titel": "x", "uid": 1}, "titel uid"),
        ({"title": None}, "title"),
        ({"title": 5}, "title"),
        ({"type": ["poll"]}, "type"),
        ({"message": 1}, "message"),
        ({"user_types": "staff"}, "user_types"),
        ({"user_types": ["staff", 1]}, "user_types.1"),
        ({"tenants": {"acme": 1}}, "tenants"),
        ({"snooze_hours": "24"}, "snooze_hours"),
        ({"snooze_hours": 24.0}, "snooze_hours"),
        ({"snooze_hours": True}, "snooze_hours"),
        ({"max_prompts": 1e3}, "max_prompts"),
        ({"repeat": "monthly"}, "repeat"),
        ({"repeat": {"every": "week", "open_days": 1}}, "repeat.starts_on"),
        ({"repeat": {"every": "week", "open_days": 1, "starts_on": "2026-02-30"}}, "repeat.starts_on"),
        ({"repeat": {"every": "week", "open_days": 1, "starts_on": "2026-02-03", "day": 1}}, "repeat.day"),
        ({"format": "muster.survey/2"}, "format"),
        ({"questions": {}}, "questions"),
        ({"questions": [1]}, "questions.0"),
        ({"questions": [{"label": "x"}]}, "questions.0.type"),
        ({"questions": [{"label": "x", "type": "scale", "option": []}]}, "questions.0.option"),
        ({"questions": [{"label": "x", "type": "scale", "options": ["a", 1]}]}, "questions.0.options.1"),
        ({"questions": [{"label": "x", "type": "scale", "required": "yes"}]}, "questions.0.required"),
        ({"questions": [{"label": "x", "type": "scale", "question": 7}]}, "questions.0.question"),
    ],
)
def test_a_key_that_is_unknown_or_of_another_kind_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    assert wrong(**fields) == named.split()


def test_the_sentence_has_the_keys_of_the_file_and_not_the_words_of_the_form() -> None:
    wrong_kind = {**SMALLEST, "snooze_hours": "24", "questions": [{"text": "How?", "label": "How?", "type": "scale"}]}
    assert refused(json.dumps(wrong_kind).encode()).message == (
        "The file can't be used. snooze_hours: Give a whole number or null, not a text; questions.0.text: There is no such key."
    )
    broken = {**SMALLEST, "ti\ntle": "x"}
    assert refused(json.dumps(broken).encode()).message == "The file can't be used. ti tle: There is no such key."
    badly_timed = {**SMALLEST, "starts_at": "soon"}
    assert refused(json.dumps(badly_timed).encode()).message == (
        "The file can't be used. starts_at: Give a time in UTC such as 2026-12-01T08:00:00Z."
    )


@pytest.mark.parametrize("missing", SMALLEST)
def test_title_type_and_enforcement_are_needed(missing: str) -> None:
    kept = {key: value for key, value in SMALLEST.items() if key != missing}
    assert [one.field for one in refused(json.dumps(kept).encode()).details] == [missing]


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-01T08:00:00",
        "2026-12-01T08:00:00+00:00",
        "2026-12-01T09:00:00+01:00",
        "2026-12-01T08:00Z",
        "2026-12-01",
        "2026-12-01 08:00:00Z",
        "2026-12-01T08:00:00z",
        "2026-12-01T08:00:00.1234567Z",
        "2026-13-01T08:00:00Z",
        "2026-02-30T08:00:00Z",
        "2026-12-01T25:00:00Z",
        "0000-12-01T08:00:00Z",
        "2026-12-01T08:00:00Z\n",
        "\u0662026-12-01T08:00:00Z",
        "soon",
        "",
    ],
)
def test_an_instant_is_in_utc_and_ends_in_z(text: str) -> None:
    assert wrong(ends_at=text) == ["ends_at"]


def test_an_instant_has_microseconds_at_most() -> None:
    assert read(starts_at="2026-12-01T08:00:00.123456Z").starts_at == datetime(
        2026, 12, 1, 8, 0, 0, 123_456, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "strict JSON"),
        (b"{", "strict JSON"),
        (b"[]", "one JSON object"),
        (b'"muster.survey/1"', "one JSON object"),
        (b'{"title": "a", "title": "b"}', "same key twice"),
        (b'{"title": NaN}', "strict JSON"),
        (b'{"max_prompts": Infinity}', "strict JSON"),
        (b'{"title": "\xff"}', "UTF-8"),
        (b'{"title": "\\ud800"}', "surrogate"),
        (b"{} {}", "strict JSON"),
        (b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}", "deeper than 32"),
        (b" " * (files.LARGEST_FILE + 1), "too large"),
    ],
)
def test_anything_but_strict_json_is_refused(raw: bytes, reason: str) -> None:
    assert reason in refused(raw).message


def test_an_id_that_is_no_uuid_is_no_id() -> None:
    key = "6f1c2a52-0d3c-4f0a-9b0e-0d9a2f4f7c11"
    asked = [{"question": one, "label": "x", "type": "free_text"} for one in (key.upper(), "q1", "", None, key[:-1])]
    assert [one.key for one in read(questions=asked).questions] == [UUID(key), None, None, None, None]


@settings(max_examples=100, deadline=None)
@given(DEFINITIONS)
def test_writing_and_reading_change_nothing(definition: Definition) -> None:
    assert files.read(json.dumps(files.document(definition)).encode()) == definition


ASKING = [
    {"question": "eats", "label": "Do you eat here?", "type": "single_choice", "options": ["Yes", "No"]},
    {"label": "How far is it?", "type": "number", "min": 0, "max": 2.5, "unit": "km"},
    {"label": "How was it?", "type": "matrix", "options": ["Good", "Bad"], "rows": ["Soup", "Cake"], "page": True},
    {"label": "Score?", "type": "nps", "low_label": "never", "high_label": "for sure"},
    {"label": "Why?", "type": "free_text", "show_if": {"question": "eats", "is": "not_in", "values": ["Yes"]}},
]


def test_details_of_questions_are_read_and_a_condition_finds_its_question_by_its_name_in_the_file() -> None:
    details = [one.details for one in read(questions=ASKING).questions]
    assert details == [
        NO_DETAILS,
        QuestionDetails(min=0, max=2.5, unit="km"),
        QuestionDetails(rows=("Soup", "Cake"), page=True),
        QuestionDetails(low_label="never", high_label="for sure"),
        QuestionDetails(show_if=Condition(1, ("Yes",), negated=True)),
    ]
    assert checked(read(questions=ASKING))


@pytest.mark.parametrize(
    ("details", "named"),
    [
        ({"low_label": 1}, "questions.0.low_label"),
        ({"min": "1"}, "questions.0.min"),
        ({"rows": "a"}, "questions.0.rows"),
        ({"page": 1}, "questions.0.page"),
        ({"show_if": {"question": "x", "values": [1], "if": 1}}, "questions.0.show_if.if"),
        ({"show_if": {"question": "x", "is": "above", "values": [1]}}, "questions.0.show_if.is"),
        ({"show_if": {"question": "x", "values": [1.5]}}, "questions.0.show_if.values.0"),
        ({"show_if": {"question": "x", "values": [1]}}, "questions.0.show_if.question"),
    ],
)
def test_a_detail_of_another_kind_is_refused_by_its_place(details: dict[str, Any], named: str) -> None:
    assert wrong(questions=[{"label": "x", "type": "scale", **details}]) == [named]


def test_a_file_of_a_survey_without_details_has_no_key_for_them() -> None:
    assert files.document(defined(questions=[LUNCH]))["questions"] == [{"question": None, **LUNCH}]


def test_an_export_says_what_is_known_of_the_survey_and_is_read_as_its_definition() -> None:
    key = UUID(int=7)
    definition = checked(
        replace(defined(questions=[{**LUNCH, "key": key}, HOW_WAS_IT, CONSENT]), starts_at=NOW, tenants=("acme",))
    )
    stored = Stored(
        workspace="main",
        id=1,
        uid=UUID(int=9),
        definition=definition,
        status="published",
        version=3,
        revision=8,
        content_hash=definition.content_hash,
        wording_id=4,
        published_at=NOW,
        responses=0,
        created_by="Ann",
        created_at=NOW,
        updated_by="Ann",
        updated_at=NOW,
        demo=False,
    )
    exported = files.export(stored, NOW)
    assert [*exported][-7:] == list(files.EXPORTED)
    assert exported["survey"] == "00000000-0000-0000-0000-000000000009"
    assert (exported["workspace"], exported["status"], exported["version"]) == ("main", "published", 3)
    assert exported["starts_at"] == exported["published_at"] == exported["exported_at"] == "2026-11-21T12:00:00.250000Z"
    assert exported["questions"][0] == {"question": str(key), **LUNCH}
    assert files.read(json.dumps(exported).encode()) == definition
