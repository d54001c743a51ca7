"""The page docs/surveys.md: its words, bounds and rules are those of the product."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from app.accounts.tenants import CEILINGS
from app.surveys import question_types, words
from app.surveys.asking import pacing
from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.authoring.differences import need_new_version
from app.surveys.module import POLICIES
from app.surveys.pages.acts_allowed import limits
from app.surveys.question_details import Condition, QuestionDetails
from tests.test_docs import pages, subpart

_CHOICE = QuestionDefinition(UUID(int=1), "Which?", "single_choice", ("a", "b"), required=False)
_TEXT = QuestionDefinition(UUID(int=2), "Why?", "free_text", (), required=False)
_AGREEMENT = QuestionDefinition(UUID(int=3), "Do you agree?", "agreement", (), required=True)
_SURVEY = Definition(title="Lunch", type="feedback", enforcement="optional", questions=(_CHOICE, _TEXT))


def test_the_page_of_surveys_names_the_words_and_bounds_of_the_product() -> None:
    text = pages()["surveys.md"]
    for heading, labels in (
        ("Life of a survey", words.STATUSES),
        ("Kind and questions", question_types.QUESTION_TYPES),
        ("Answers and their proof", words.OUTCOMES),
    ):
        table = subpart(text, heading)
        assert re.findall(r"(?m)^\| (?!state|question|outcome|-)([^|]+) \|", table) == list(labels.values())
    for label, bounds, default in (
        ("Snooze", words.SNOOZE_HOURS, f"{words.DEFAULT_SNOOZE_HOURS} hours"),
        ("Cooldown", words.COOLDOWN_DAYS, f"{words.DEFAULT_COOLDOWN_DAYS} day"),
        ("Max prompts", words.MAX_PROMPTS, str(words.DEFAULT_MAX_PROMPTS)),
    ):
        assert f"| {label} | {default} | {bounds[0]} – {bounds[1]} |" in text
    switches = {one.label for one in POLICIES if one.default is True}
    assert set(re.findall(r"(?m)^\| (?!policy|-)([^|]+) \|", subpart(text, "Where people meet it"))) == switches
    assert f"at most {words.MOST_QUESTIONS} questions" in text
    assert f"has {words.FEWEST_OPTIONS} to {words.MOST_OPTIONS} options" in text
    assert f"Up to {words.LONGEST_TEXT:,} characters" in text
    assert f"at most {words.MOST_IN_QUEUE} at a time" in text
    assert f"One to {words.MOST_STARS} stars" in text


def test_the_page_of_surveys_names_every_reason_in_the_order_of_the_judge() -> None:
    said = re.findall(r"(?m)^\| `(\w+)` \| (yes|no) \| (yes|no) \|", pages()["surveys.md"])
    assert said == [
        (reason, "yes" if case.answerable else "no", "yes" if case.promptable else "no")
        for reason, case in pacing.CASES.items()
    ]


def test_the_page_of_surveys_says_which_changes_need_a_new_version() -> None:
    """Word for word what stands there, tried on a survey without an Agreement question and on one with it."""
    said = subpart(pages()["surveys.md"], "Versions")
    correct, agreed = re.findall(r"(?ms)^\* (.+?)(?=^\* |\n\n)", said)
    free, needs = " ".join(correct.split()).split(". ")
    assert free == (
        "An author may correct its title, its message, its closing words and the text of its questions, and change audience, window,"
        " pacing and category"
    )
    assert (
        needs
        == "Type, enforcement, and the number, order, types, options, required flags, ends, bounds, rows, pages and conditions of its"
        " questions need a new version."
    )
    assert agreed.startswith("With an Agreement question, title, message and texts need a new version too")
    corrected = (
        {"title": "Other"},
        {"message": "<p>Other</p>"},
        {"closing_html": "<p>Other</p>"},
        {"questions": (replace(_CHOICE, label="Other"), _TEXT)},
    )
    changed = (
        {"user_types": ("staff",)},
        {"tenants": ("acme",)},
        {"starts_at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"ends_at": datetime(2027, 1, 1, tzinfo=UTC)},
        {"snooze_hours": 1},
        {"cooldown_days": 2},
        {"max_prompts": 1},
        {"category": "Other"},
    )
    refused = (
        {"type": "poll"},
        {"enforcement": "required"},
        {"questions": (_CHOICE,)},
        {"questions": (_TEXT, _CHOICE)},
        {"questions": (replace(_CHOICE, type="scale"), _TEXT)},
        {"questions": (replace(_CHOICE, options=("a", "c")), _TEXT)},
        {"questions": (replace(_CHOICE, required=True), _TEXT)},
        {"questions": (_CHOICE, replace(_TEXT, details=QuestionDetails(page=True)))},
        {"questions": (_CHOICE, replace(_TEXT, details=QuestionDetails(show_if=Condition(1, ("a",)))))},
        {"questions": (replace(_CHOICE, details=QuestionDetails(low_label="never")), _TEXT)},
    )
    assert [one for one in (*corrected, *changed) if need_new_version(_SURVEY, replace(_SURVEY, **one))] == []
    assert [one for one in refused if not need_new_version(_SURVEY, replace(_SURVEY, **one))] == []
    consent = replace(_SURVEY, questions=(*_SURVEY.questions, _AGREEMENT))
    for one in corrected:
        wanted = {key: (*value, _AGREEMENT) if key == "questions" else value for key, value in one.items()}
        assert need_new_version(consent, replace(consent, **wanted)), one
    assert [one for one in changed if need_new_version(consent, replace(consent, **one))] == []


def test_the_page_of_surveys_says_what_each_ceiling_lets_authors_write() -> None:
    table = subpart(pages()["surveys.md"], "What a tenant may write")
    said = dict(re.findall(r"(?m)^\| (?!ceiling)(\w+) \| ([^|]+)\. \|", table))
    phrases = {
        (): "See surveys",
        ("optional",): "Write optional surveys",
        ("optional", "required"): "Write all kinds",
    }
    kinds = {name: tuple(kind for kind in words.ENFORCEMENTS if not limits(name, kind)) for name in said}
    assert list(said) == list(CEILINGS)
    assert said == {name: phrases[written] for name, written in kinds.items()}
