"""Entries of the ledger for tests: what one person of the cast, or any number, says to a published survey."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.db.session import Database
from app.secrets import KeyRing
from app.surveys.ledger import append as ledger
from app.surveys.ledger import chain, verifying
from app.surveys.ledger.answers import Answered
from app.surveys.ledger.entries import Entry, RecordedEntry, line_of
from app.surveys.ledger.verifying import LedgerVerdict
from app.surveys.models import LedgerHead
from tests.conftest import KEYS
from tests.surveys.drafted import Stored, published
from tests.surveys.ledger_rows import Placed, respond
from tests.surveys.owner import Owner

AT = datetime(2026, 11, 21, 8, 0, 0, 250_000, tzinfo=UTC)
EVERY_TYPE = [
    {"label": "Stars?", "type": "star_rating"},
    {"label": "How much?", "type": "scale", "options": ["little", "much"]},
    {"label": "Which?", "type": "single_choice", "options": ["soup", "salad"]},
    {"label": "What all?", "type": "multiple_choice", "options": ["rice", "bread", "beans"]},
    {"label": "Why?", "type": "free_text"},
]
VALUES = (4, "much", "soup", ("rice", "beans"), "Nora was served cold soup")


async def lunch(database: Database, workspace: str = "main") -> Stored:
    """A published survey with a question of every type."""
    async with database.transaction(workspace) as db:
        return await published(db, title="Lunch", questions=EVERY_TYPE)


def entry(survey: Stored, user_id: int, values: Sequence[Any] = VALUES, **changed: Any) -> Entry:
    """`values` in the order of the questions; None leaves one out."""
    answers = tuple(
        Answered(one.key, value) for one, value in zip(survey.questions, values, strict=False) if value is not None
    )
    assert survey.wording_id is not None
    given: dict[str, Any] = {
        "survey_id": survey.id,
        "survey": survey.uid,
        "version": survey.version,
        "wording_id": survey.wording_id,
        "content_hash": survey.content_hash,
        "user_id": user_id,
        "outcome": "answered",
        "source": "web",
        "answers": answers,
        "ip": "198.51.100.7",
        "browser": "Firefox",
        "recorded_at": AT,
        "shown": "first",
        **changed,
    }
    return Entry(**given)


async def record(
    database: Database, keys: KeyRing, survey: Stored, user_id: int, *values: Any, **changed: Any
) -> RecordedEntry:
    """Appended in a transaction of its own."""
    async with database.transaction(survey.workspace) as db:
        return await ledger.append(db, keys, entry(survey, user_id, values or VALUES, **changed))


async def record_as_before(database: Database, survey: Stored, user_id: int, *, prompted: bool) -> str:
    """An opt-out as it was written before entries said `shown`; returns its receipt."""
    said = entry(survey, user_id, (), outcome="opted_out", shown="first" if prompted else "not_handed_out")
    async with database.transaction(survey.workspace) as db:
        number, before = (await db.execute(select(LedgerHead.number, LedgerHead.row_hash))).one()
        line = line_of(said, user_id, ([str(one.key) for one in survey.questions], {}, None), number + 1)
        text = chain.written(msgspec.structs.replace(line, shown=msgspec.UNSET))
        row_hash = chain.row_hash(before, text)
        to = Placed(survey.id, survey.uid, survey.wording_id or 0)
        words = {"recorded_at": AT, "prompted": prompted, "entry": text, "row_hash": row_hash}
        await respond(db, to, user_id, "opted_out", **words)
    return row_hash.hex()


async def user_id(database: Database, short: str) -> int:
    async with database.shared_transaction() as db:
        return await db.scalar(select(User.id).where(User.email == f"{short}@example.org")) or 0


async def verify(database: Database, workspace: str, report: verifying.Report | None = None) -> LedgerVerdict:
    """Walks the ledger with the keys of the tests."""
    return await verifying.verify(database, KeyRing.from_text(KEYS), workspace, report)


async def verify_tampered(database: Database, owner: Owner, statements: str | Sequence[str]) -> LedgerVerdict:
    """What verifying says while these statements hold; they are undone afterwards."""
    with owner.tampering(*([statements] if isinstance(statements, str) else statements)):
        return await verify(database, "main")


async def open_evidence(db: AsyncSession, keys: KeyRing, number: int) -> Any:
    """What the sealed evidence of a row says, None where nothing opens."""
    from sqlalchemy import text

    from app.db.session import workspace_of
    from app.surveys.ledger import evidence

    row = (
        await db.execute(
            text(
                "SELECT r.survey_id, r.version, r.user_id AS person, r.key_id, r.sealed, k.sealed_key FROM survey_responses r"
                " LEFT JOIN survey_person_keys k ON k.id = r.key_id WHERE r.number = :number"
            ),
            {"number": number},
        )
    ).one()
    return evidence.open(keys, workspace_of(db), row)
