"""Rows put straight into the tables of surveys, for tests that count or list many:
no chain, no evidence, no rule applied.

What a person does through the product: tests/surveys/drafted.py and the verbs themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import msgspec
from sqlalchemy import insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.models import (
    Answer,
    LedgerChange,
    LedgerHead,
    PromptState,
    Question,
    Response,
    Survey,
    Tombstone,
    Wording,
)
from app.surveys.words import KIND_AFTER

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass
class Placed:
    """A survey in the tables, with the keys of its questions."""

    id: int
    uid: UUID
    wording: int
    keys: list[UUID] = field(default_factory=list)


async def survey(
    db: AsyncSession, title: str = "Lunch", questions: Sequence[tuple[str, str, list[str]]] = (), **values: Any
) -> Placed:
    """A published survey; `questions` are (label, type, options)."""
    keys = [uuid4() for _ in questions]
    uid = values.pop("uid", None) or uuid4()
    given = {
        "type": "feedback",
        "enforcement": "optional",
        "status": "published",
        "version": 1,
        "message": "",
        "snooze_hours": 24,
        "cooldown_days": 1,
        "max_prompts": 5,
        "published_at": NOW,
    } | values
    if given["enforcement"] == "required":
        given |= dict.fromkeys(("snooze_hours", "cooldown_days", "max_prompts"))
    wording_id = await wording(db, uid, title, questions, keys, version=given["version"])
    survey_id = await db.scalar(
        insert(Survey)
        .values(
            uid=uid,
            title=title,
            content_hash="0" * 64,
            wording_id=wording_id,
            created_by="tests",
            updated_by="tests",
            **given,
        )
        .returning(Survey.id)
    )
    for position, (key, (label, kind, options)) in enumerate(zip(keys, questions, strict=True)):
        row = {"key": key, "position": position, "label": label, "type": kind, "options": options, "required": False}
        await db.execute(insert(Question).values(survey_id=survey_id, **row))
    return Placed(survey_id or 0, uid, wording_id, keys)


async def wording(
    db: AsyncSession,
    uid: UUID,
    title: str,
    questions: Sequence[tuple[str, str, list[str]]],
    keys: Sequence[UUID],
    *,
    version: int,
) -> int:
    asked = [{"label": one[0], "type": one[1], "options": one[2], "required": False} for one in questions]
    content = {"title": title, "message": "", "type": "feedback", "enforcement": "optional", "questions": asked}
    statement = insert(Wording).values(
        survey_uid=uid,
        version=version,
        content_hash="0" * 64,
        content=msgspec.json.encode(content).decode(),
        question_keys=[str(key) for key in keys],
    )
    return await db.scalar(statement.returning(Wording.id)) or 0


async def respond(
    db: AsyncSession,
    to: Placed,
    user_id: int,
    outcome: str = "answered",
    answers: Mapping[UUID, Sequence[str]] | None = None,
    **values: Any,
) -> int:
    """One row of the ledger, its answers and the head; returns its number. A free text is the choice ''."""
    number = (await db.scalar(select(LedgerHead.number)) or 0) + 1
    said = [
        {"question": str(key), "value": None if list(choices) == [""] else list(choices)}
        for key, choices in (answers or {}).items()
    ]
    row: dict[str, Any] = {
        "survey_id": to.id,
        "version": 1,
        "wording_id": to.wording,
        "source": "web",
        "recorded_at": NOW,
        "prompted": False,
        "has_text": False,
        "entry": msgspec.json.encode({"answers": said}).decode(),
        "row_hash": number.to_bytes(32, "big"),
    } | values
    await db.execute(insert(Response).values(number=number, person=user_id, outcome=outcome, **row))
    for key, choices in (answers or {}).items():
        for choice in choices:
            await db.execute(insert(Answer).values(number=number, question_key=key, choice=choice))
    await db.execute(update(LedgerHead).values(number=number, row_hash=row["row_hash"]))
    return number


async def change(db: AsyncSession, response: int, turn: int = 1) -> int:
    """Withdraws the response of this number, or agrees to it again; returns the number of the change."""
    number = (await db.scalar(select(LedgerHead.number)) or 0) + 1
    changed = (await db.execute(select(Response.survey_id, Response.version).where(Response.number == response))).one()
    row: dict[str, Any] = {
        "kind": KIND_AFTER[turn % 2],
        "survey_id": changed.survey_id,
        "version": changed.version,
        "response_number": response,
        "turn": turn,
        "person": 1,
        "source": "web",
        "recorded_at": NOW,
        "entry": "{}",
        "row_hash": number.to_bytes(32, "big"),
    }
    await db.execute(insert(LedgerChange).values(number=number, **row))
    await db.execute(update(LedgerHead).values(number=number, row_hash=row["row_hash"]))
    return number


async def show(db: AsyncSession, to: Placed, user_id: int, *, version: int = 1, at: datetime = NOW) -> None:
    """An impression."""
    statement = upsert(PromptState).values(
        survey_id=to.id, version=version, user_id=user_id, impressions=1, first_shown_at=at, last_shown_at=at
    )
    again = {"impressions": PromptState.impressions + 1, "last_shown_at": at}
    await db.execute(statement.on_conflict_do_update(constraint=PromptState.__table__.primary_key, set_=again))


async def bury(db: AsyncSession, number: int) -> None:
    await db.execute(insert(Tombstone).values(number=number))
