"""What an author may do with an anonymous survey: the rules, and that what was published stays as it is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.session import Database
from app.errors import Invalid
from app.surveys.authoring import anonymity, files
from app.surveys.authoring.definition import Definition, problems, tidy
from tests.surveys.authored import make, read
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, defined, question

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SOON = NOW + timedelta(days=7)


def raw(**fields: Any) -> Definition:
    asked = tuple(question(one) for one in fields.pop("questions", [HOW_WAS_IT]))
    return tidy(Definition(title="Team", type="feedback", enforcement="optional", questions=asked, **fields))


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, []),
        ({"anonymity": "anonymous"}, []),
        ({"anonymity": "anonymous", "split": "department"}, []),
        ({"anonymity": "secret"}, ["anonymity"]),
        ({"anonymity": "anonymous", "split": "age"}, ["split"]),
        ({"split": "type"}, ["split"]),
        ({"anonymity": "anonymous", "questions": [CONSENT]}, ["anonymity"]),
        ({"questions": [CONSENT]}, []),
    ],
)
def test_what_can_be_saved(fields: dict[str, Any], wrong: list[str]) -> None:
    assert [one.field for one in problems(raw(**fields))] == wrong


def test_an_anonymous_survey_needs_an_end() -> None:
    assert "ends_at" in [one.field for one in anonymity.unaskable(raw(anonymity="anonymous"))]
    assert "ends_at" not in [one.field for one in anonymity.unaskable(raw(anonymity="anonymous", ends_at=SOON))]
    assert anonymity.unaskable(raw()) == []


@pytest.mark.parametrize(
    ("kind", "people", "refused"), [("anonymous", 9, True), ("anonymous", 10, False), ("named", 0, False)]
)
def test_an_anonymous_survey_asks_ten_people(kind: str, people: int, refused: bool) -> None:
    assert bool(anonymity.too_few(raw(anonymity=kind), people)) is refused


def test_what_was_published_can_not_become_anonymous_named_or_split_otherwise() -> None:
    was = raw(anonymity="anonymous", split="type")
    assert anonymity.fixed(was, replace(was, title="Other")) == []
    assert [one.field for one in anonymity.fixed(was, replace(was, anonymity="named", split=None))] == [
        "anonymity",
        "split",
    ]
    assert [one.field for one in anonymity.fixed(raw(), raw(anonymity="anonymous"))] == ["anonymity"]


def test_an_end_that_has_passed_stays() -> None:
    was = raw(anonymity="anonymous", ends_at=NOW)
    later = replace(was, ends_at=SOON)
    assert [one.field for one in anonymity.closed_end(was, later, NOW)] == ["ends_at"]
    assert anonymity.closed_end(was, later, NOW - timedelta(seconds=1)) == []
    assert anonymity.closed_end(was, was, NOW) == []
    assert anonymity.closed_end(raw(ends_at=NOW), raw(ends_at=SOON), NOW) == []
    round_of_it = replace(was, ends_at=None)
    assert [one.field for one in anonymity.closed_end(round_of_it, later, NOW, NOW)] == ["ends_at"]
    assert anonymity.closed_end(round_of_it, round_of_it, NOW, NOW) == []


def test_only_an_anonymous_survey_has_it_in_its_canonical_form() -> None:
    assert "anonymity" not in raw().content
    assert "split" not in raw(anonymity="anonymous").content
    one = raw(anonymity="anonymous", split="type")
    assert one.content.startswith('{"anonymity":"anonymous","enforcement"')
    assert '"split":"type"' in one.content


def test_a_file_carries_it_and_one_without_is_named() -> None:
    one = defined(anonymity="anonymous", split="department")
    assert files.from_document(files.document(one)) == one
    smallest = {"title": "Lunch", "type": "feedback", "enforcement": "optional"}
    assert files.from_document(smallest).anonymity == "named"


async def test_a_draft_keeps_it(database: Database) -> None:
    stored = await make(database, anonymity="anonymous", split="type", ends_at=SOON)
    found = (await read(database, stored.uid)).definition
    assert (found.anonymity, found.split) == ("anonymous", "type")


async def test_a_tenant_can_not_split_by_tenant(database: Database) -> None:
    with pytest.raises(Invalid) as refused:
        await make(database, workspace="acme", anonymity="anonymous", split="tenant", ends_at=SOON)
    assert [one.field for one in refused.value.details] == ["split"]
