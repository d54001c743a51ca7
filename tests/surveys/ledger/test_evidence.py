"""Personal evidence: one key a person, opened by that key alone, kept over a change of the key ring,
gone once erased."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text, update

from app import sealed
from app.db.direct import driver
from app.db.session import Database
from app.parts import Parts, make_parts
from app.secrets import KeyRing, SecretError, new_key_text
from app.surveys.ledger import evidence
from app.surveys.ledger.evidence import Evidence, Key, make_key
from app.surveys.models import PersonKey
from tests.cluster import DatabaseUrls
from tests.surveys.recording import lunch, open_evidence, record

TOLD = Evidence(ip="198.51.100.7", browser="Firefox", texts={"q": "Cold soup"})


class Row:
    """A response with its key, as a query joins them."""

    def __init__(self, key: Key, sealed_text: str | None, **changed: Any) -> None:
        self.survey_id, self.version, self.person, self.key_id = 1, 1, key.person, key.id
        self.sealed, self.sealed_key = sealed_text, key.sealed_key
        self.__dict__.update(changed)


async def key_of(database: Database, keys: KeyRing, person: int = 7) -> Key:
    async with database.transaction() as db:
        return await make_key(driver(db), "main", keys, person)


async def test_evidence_opens_with_the_persons_key_and_as_itself(database: Database, parts: Parts) -> None:
    key = await key_of(database, parts.keys)
    text_of = evidence.seal(parts.keys, "main", key, (1, 1), TOLD)
    assert evidence.open(parts.keys, "main", Row(key, text_of)) == TOLD
    assert "Cold" not in text_of
    assert evidence.open(parts.keys, "main", Row(key, None)) is None


async def test_evidence_opens_nowhere_else(database: Database, parts: Parts) -> None:
    key, other = await key_of(database, parts.keys), await key_of(database, parts.keys, 8)
    text_of = evidence.seal(parts.keys, "main", key, (1, 1), TOLD)
    moved = (
        ("main", Row(key, text_of, survey_id=2)),
        ("main", Row(key, text_of, version=2)),
        ("acme", Row(key, text_of)),
        ("main", Row(other, text_of)),
        ("main", Row(key, text_of, sealed_key=other.sealed_key)),
        ("main", Row(key, text_of[:-9] + ("B" if text_of[-9] == "A" else "A") + text_of[-8:])),
    )
    for workspace, row in moved:
        with pytest.raises(SecretError):
            evidence.open(parts.keys, workspace, row)


async def test_without_its_key_nothing_opens(database: Database, parts: Parts) -> None:
    key = await key_of(database, parts.keys)
    text_of = evidence.seal(parts.keys, "main", key, (1, 1), TOLD)
    assert evidence.open(parts.keys, "main", Row(key, text_of, sealed_key=None)) is None


async def test_a_person_has_one_key_however_many_make_it_at_once(urls: DatabaseUrls, settings: Any) -> None:
    wide = make_parts(settings, urls.app, pool_size=20)
    made = await asyncio.gather(*(key_of(wide.database, wide.keys) for _ in range(16)))
    await wide.close()
    assert len(set(made)) == 1


async def test_a_key_is_random_and_never_in_the_clear(database: Database, parts: Parts) -> None:
    one, other = await key_of(database, parts.keys, 7), await key_of(database, parts.keys, 8)
    opened = {
        parts.keys.open(key.sealed_key, evidence._place_of_key("main", key.person)).reveal() for key in (one, other)
    }
    assert len(opened) == 2
    assert not any(raw in one.sealed_key + other.sealed_key for raw in opened)


async def test_another_ring_key_seals_the_persons_key_again_and_the_evidence_stays(
    database: Database, parts: Parts, settings: Any
) -> None:
    survey = await lunch(database)
    await record(database, parts.keys, survey, 7)
    await record(database, parts.keys, await lunch(database, "acme"), 7)
    erased = await key_of(database, parts.keys, 8)
    async with database.transaction() as db:
        gone = update(PersonKey).where(PersonKey.id == erased.id)
        await db.execute(gone.values(sealed_key=None, erased_at=text("now()")))
    second = new_key_text("second")
    rotated = KeyRing.from_text(f"{second},{settings.secret_keys}")
    assert (await sealed.examine(database, rotated)).rotated == 2
    done = await sealed.rotate(database, rotated)
    assert (done.rotated, done.unchanged, done.broken) == (2, 0, [])
    assert (await sealed.rotate(database, rotated)).unchanged == 2
    without_the_first = KeyRing.from_text(second)
    for workspace in ("main", "acme"):
        async with database.transaction(workspace) as db:
            assert (await open_evidence(db, without_the_first, 1)).ip == "198.51.100.7"


async def test_a_key_of_another_ring_is_named_by_its_row(database: Database, parts: Parts) -> None:
    key = await key_of(database, parts.keys, 70)
    stranger = KeyRing.from_text(new_key_text("test"))
    broken = [f"main: survey_person_keys.sealed_key, row {key.id}"]
    assert (await sealed.examine(database, stranger)).broken == broken
    assert (await sealed.rotate(database, stranger)).broken == []  # it bears the first key's name already
