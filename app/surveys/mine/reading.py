"""The answers of one person, from the ledger of their own workspace and that of the platform,
with the words that they saw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Select, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.among import among
from app.db.session import PLATFORM, workspace_of
from app.errors import NotFound
from app.secrets import KeyRing
from app.surveys.asking import pacing
from app.surveys.asking.pacing import Caller, Gap, Offer, PromptHistory
from app.surveys.asking.respondent import Respondent, Transactions
from app.surveys.ledger import people
from app.surveys.ledger.changes import Agreement
from app.surveys.ledger.evidence import Key
from app.surveys.mine import wordings
from app.surveys.mine.words import NO_SUCH_ANSWER
from app.surveys.models import LedgerChange, PersonKey, Response, Survey, Wording
from app.surveys.results import queries, responses
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.responses import ReadWording, ShownAnswer
from app.surveys.results.tallies import TallyScope

_MINE = and_(Response.person == people.number(), TallyScope().recorded())
_now = Wording.__table__.alias("current_wording")
_live = PersonKey.__table__.alias("live_key")
_LAST = (
    select(LedgerChange.turn)
    .where(LedgerChange.response_number == Response.number)
    .order_by(LedgerChange.turn.desc())
    .limit(1)
    .scalar_subquery()
)
# When it differs from the one that the person read, within the same version.
_CURRENT = (
    select(_now.c.content)
    .where(_now.c.id == Survey.wording_id, _now.c.id != Response.wording_id, Survey.version == Response.version)
    .scalar_subquery()
)
_ROWS = (
    queries.rows(
        Wording.content,
        Wording.question_keys,
        Wording.content_hash,
        Survey.status,
        Survey.version.label("current_version"),
        Survey.wording_id.label("current_wording"),
        _CURRENT.label("current_content"),
        Survey.enforcement,
        Survey.user_types,
        Survey.tenants,
        Survey.starts_at,
        Survey.ends_at,
        Survey.deleted_at,
        func.coalesce(_LAST, 0).label("turns"),
        _live.c.id.label("live_key_id"),
        _live.c.sealed_key.label("live_sealed_key"),
    )
    .join(Wording, Wording.id == Response.wording_id)
    .outerjoin(_live, and_(_live.c.user_id == Response.person, _live.c.erased_at.is_(None)))
    .where(_MINE)
)
_CHANGES = select(
    LedgerChange.response_number,
    LedgerChange.kind,
    LedgerChange.recorded_at,
    LedgerChange.source,
    LedgerChange.row_hash,
).order_by(LedgerChange.number)

Act = Literal["withdraw", "agree"]


@dataclass(frozen=True, slots=True)
class MyChange:
    """`kind` is withdrawn or agreed_again; `receipt` is its hash in the ledger."""

    kind: str
    recorded_at: datetime
    source: str
    receipt: str


@dataclass(frozen=True, slots=True)
class MyAnswer:
    """One response of the person. `outcome` is what they said, `standing` what holds now. `why_not` is why a withdrawn
    agreement can't be given again, as a reason of `words.WHY_NOT`; None when it can, and for everything else."""

    workspace: str
    receipt: str
    survey: UUID
    version: int
    content_hash: str
    words: ReadWording
    questions: tuple[AskedQuestion, ...]
    answers: Mapping[str, ShownAnswer]
    outcome: str
    standing: str
    recorded_at: datetime
    source: str
    person: int
    changes: tuple[MyChange, ...]
    agreement: Agreement | None
    why_not: str | None
    erased: bool
    language: str

    @property
    def last(self) -> "MyAnswer | MyChange":
        """What made it stand as it stands now: its last change, otherwise the response itself."""
        return self.changes[-1] if self.changes else self

    @property
    def can(self) -> Act | None:
        if self.standing == "agreed":
            return "withdraw"
        return "agree" if self.standing == "withdrawn" and self.why_not is None else None


@dataclass(frozen=True, slots=True)
class _Reader:
    """The person who reads: what they sealed, and if they may agree again now."""

    caller: Caller
    keys: KeyRing
    now: datetime


async def answers_of(who: Respondent, within: Transactions, *, offset: int, rows: int) -> tuple[list[MyAnswer], int]:
    """A part of their answers, newest first, and how many they have. What it reads grows only with the person's own
    answers: one for each version that they were asked."""
    places: list[tuple[datetime, str, int]] = []
    total = 0
    for workspace in _ledgers(who):
        async with within.inside(workspace) as db:
            newest = select(Response.recorded_at, Response.number).where(_MINE).order_by(*queries.NEWEST_FIRST)
            found = await db.execute(newest.limit(offset + rows), {"user": who.user_id})
            places += [(row.recorded_at, workspace, row.number) for row in found]
            count = select(func.count()).select_from(Response).where(_MINE)
            total += await db.scalar(count, {"user": who.user_id}) or 0
    chosen = sorted(places, reverse=True)[offset : offset + rows]
    read: dict[tuple[str, int], MyAnswer] = {}
    for workspace in dict.fromkeys(place[1] for place in chosen):
        numbers = [number for _, there, number in chosen if there == workspace]
        async with within.inside(workspace) as db:
            rows_of = await _read(db, who, within.parts.keys, _ROWS.where(among(Response.number, numbers)))
            read |= {(workspace, number): one for number, one in rows_of}
    return [read[there, number] for _, there, number in chosen if (there, number) in read], total


async def find(who: Respondent, within: Transactions, receipt: bytes) -> MyAnswer:
    """Their answer with this receipt, in their own workspace or on the platform. Raises NotFound, also for another
    person's."""
    for workspace in _ledgers(who):
        async with within.inside(workspace) as db:
            if found := await one(db, who, within.parts.keys, receipt):
                return found
    raise NotFound(NO_SUCH_ANSWER)


async def one(db: AsyncSession, who: Respondent, keys: KeyRing, receipt: bytes) -> MyAnswer | None:
    """The same in the workspace of `db` only; None when it has none."""
    found = await _read(db, who, keys, _ROWS.where(Response.row_hash == receipt))
    return found[0][1] if found else None


def _ledgers(who: Respondent) -> tuple[str, ...]:
    return tuple(dict.fromkeys((who.workspace, PLATFORM)))


async def _read(db: AsyncSession, who: Respondent, keys: KeyRing, statement: Select[Any]) -> list[tuple[int, MyAnswer]]:
    rows = (await db.execute(statement, {"user": who.user_id})).all()
    changes: dict[int, list[MyChange]] = {}
    if numbers := [row.number for row in rows if row.turns]:
        for change in await db.execute(_CHANGES.where(among(LedgerChange.response_number, numbers))):
            told = MyChange(change.kind, change.recorded_at, change.source, change.row_hash.hex())
            changes.setdefault(change.response_number, []).append(told)
    reader = _Reader(who.caller, keys, datetime.now(UTC))
    return [(row.number, _answer(workspace_of(db), row, changes.get(row.number, ()), reader)) for row in rows]


def _answer(workspace: str, row: Any, changes: Sequence[MyChange], reader: _Reader) -> MyAnswer:
    opened = responses.opened(reader.keys, workspace, row)
    read = responses.as_read(row, opened)
    return MyAnswer(
        workspace=workspace,
        receipt=row.row_hash.hex(),
        survey=row.survey,
        version=row.version,
        content_hash=row.content_hash,
        words=read.words,
        questions=read.questions,
        answers=read.answers,
        language=read.language,
        outcome=row.recorded_outcome,
        standing=row.outcome,
        recorded_at=row.recorded_at,
        source=row.source,
        person=row.person,
        changes=tuple(changes),
        agreement=_agreement(row),
        why_not=_why_not(workspace, row, reader) if row.outcome == "withdrawn" else None,
        erased=opened.erased,
    )


def _agreement(row: Any) -> Agreement | None:
    if row.recorded_outcome != "agreed":
        return None
    key = None if row.live_key_id is None else Key(row.live_key_id, row.person, row.live_sealed_key)
    receipt = row.row_hash.hex()
    return Agreement(row.number, receipt, row.survey_id, row.survey, row.version, row.person, row.turns, key)


def _has_the_same_words(row: Any) -> bool:
    """True when the version still says what the person read: other languages may have been added since."""
    if row.wording_id == row.current_wording:
        return True
    return row.current_content is not None and wordings.same(row.content, row.current_content, row.language)


def _why_not(workspace: str, row: Any, reader: _Reader) -> str | None:
    """Why the person can't agree to it again: the reason why they could not answer it now, as if they had not yet."""
    if row.deleted_at is not None:
        return "archived"
    if row.version != row.current_version or not _has_the_same_words(row):
        return "superseded"
    offer = Offer(
        workspace=workspace,
        uid=row.survey,
        status=row.status,
        version=row.version,
        enforcement=row.enforcement,
        user_types=row.user_types,
        tenants=row.tenants,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
    )
    reason = pacing.judge(offer, PromptHistory(outcome=row.recorded_outcome), reader.caller, reader.now, Gap()).reason
    return None if reason == "done" else reason
