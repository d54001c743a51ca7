"""Punches that the server no longer has: which stored punches a complete walk did not bring, and what follows.

A few are marked. When a mass of them is missing, a person is asked, as with people who disappear from a list, and
nothing is marked before the answer. A punch that comes again loses its mark where pages are written
(mirror/punch_rows.py).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor, record
from app.clock.mirror import cursors
from app.clock.mirror.missing_rows import EXAMPLES, is_believable
from app.clock.mirror.rezoning import IS_CURRENT
from app.clock.models import Cursor
from app.clock.punches import marks
from app.clock.punches.daily_totals import mark_stale
from app.clock.punches.settled import ended_where
from app.dates import days_words
from app.problems import looking

RESOURCE = cursors.PUNCHES
KIND = "gone"
SLICE = 1000

_OURS = text(
    f"""
    SELECT t.id, t.remote_id, t.local_date, m.question
    FROM clock_transactions t LEFT JOIN clock_missing_punches m ON m.punch_id = t.id
    WHERE t.id_generation = :generation AND t.gone_at_utc IS NULL AND t.local_date >= :first
      AND (CAST(:until AS date) IS NULL OR t.local_date < :until) AND t.{IS_CURRENT}
    """
)
# An imported punch keeps its record and its outcome and needs a person; every other one no longer takes part in
# pairing.
_MARK = text(
    f"""
    UPDATE clock_transactions t SET gone_at_utc = :now, judge_at = {marks.DUE}, updated_at = now(),
        {ended_where("t.host_attendance_id IS NOT NULL OR t.edited_record_id IS NOT NULL", "t")}
    WHERE id = ANY(CAST(:ids AS bigint[])) AND gone_at_utc IS NULL
    RETURNING local_date
    """
)
_ASK = text(
    """
    INSERT INTO clock_missing_punches (punch_id, question) SELECT id, :question FROM unnest(CAST(:ids AS bigint[])) AS id
    ON CONFLICT DO NOTHING
    """
)
_ASKED = text("SELECT punch_id FROM clock_missing_punches WHERE question = :question ORDER BY punch_id LIMIT :some")
_DECIDED = text("DELETE FROM clock_missing_punches WHERE punch_id = ANY(CAST(:ids AS bigint[]))")
_BY_DAY = text(
    """
    SELECT t.local_date, count(*) FROM clock_missing_punches m JOIN clock_transactions t ON t.id = m.punch_id
    WHERE m.question = :question GROUP BY t.local_date ORDER BY t.local_date DESC
    """
)
_KNOWN = text(
    "SELECT count(*) FROM clock_transactions WHERE id_generation = :generation AND gone_at_utc IS NULL"
    " AND local_date BETWEEN :first AND :last"
)

Open = Callable[[], AbstractAsyncContextManager[AsyncSession]]


@dataclass(frozen=True, slots=True)
class Ours:
    """One of our punches within what was read; `question`: a person was asked about it, and perhaps refused."""

    id: int
    remote_id: str
    day: date
    question: int | None


@dataclass(frozen=True, slots=True)
class Judged:
    """Punches that did not come: `gone` are to be marked, `doubted` wait for a person."""

    gone: Sequence[int] = ()
    doubted: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class DaysRead:
    """Days from `first` to before `until` (None: open) that were read completely, under one generation of ids. `came`
    says whether a row of the server was among what came, `listed` how many there were."""

    generation: int
    first: date
    until: date | None
    came: Callable[[str], bool]
    listed: int


def judge(ours: Collection[Ours], came: Callable[[str], bool], listed: int, kept: Collection[int]) -> Judged:
    """What is missing of `ours`, day by day. `listed` is how many rows came in all,
    `kept` the questions that a person refused.

    A day is doubted when more than ten of its punches and more than a fifth would go. Everything is doubted when the
    same holds for all that was read, or when nothing came at all (as for people: mirror/missing_rows.py).
    """
    missing = [one for one in ours if one.question not in kept and not came(one.remote_id)]
    if not is_believable(len(ours), len(missing), listed):
        return Judged(doubted=[one.id for one in missing])
    known, lost = Counter(one.day for one in ours), Counter(one.day for one in missing)
    believed = {day for day, number in lost.items() if is_believable(known[day], number, listed)}
    return Judged(
        [one.id for one in missing if one.day in believed], [one.id for one in missing if one.day not in believed]
    )


async def settle(db: AsyncSession, run_id: int, read: DaysRead, now: datetime) -> Judged:
    """Marks what is gone of these days; what is doubted waits for a person. Returns both."""
    rows = await db.execute(_OURS, {"generation": read.generation, "first": read.first, "until": read.until})
    questions = await _questions(db)
    kept = {one.generation for one in questions if (one.pending or {}).get("refused_by")}
    judged = judge([Ours(*row) for row in rows], read.came, read.listed, kept)
    if judged.gone:
        await mark(db, judged.gone, now)
    if judged.doubted or any(_waits(one) for one in questions):
        await _ask(db, judged.doubted, run_id, read.generation, now)
    return judged


async def mark(db: AsyncSession, ids: Sequence[int], now: datetime) -> None:
    """Notes that the server no longer has these punches, and marks them to be judged again. Punches that depend on them
    are judged with them."""
    await mark_stale(db, await db.scalars(_MARK, {"ids": list(ids), "now": now}))


async def _questions(db: AsyncSession) -> Sequence[Cursor]:
    """One row for each time that many punches were missing at once, the latest first; `generation` is its number."""
    wanted = select(Cursor).where(Cursor.resource == RESOURCE, Cursor.kind == KIND)
    return (await db.scalars(wanted.order_by(Cursor.generation.desc()))).all()


async def _ask(db: AsyncSession, ids: Sequence[int], run_id: int, generation: int, now: datetime) -> None:
    """Adds to the question that waits, or opens one. A question is over when all that it was about came again."""
    waiting = await undecided(db)
    number = waiting.generation if waiting is not None else run_id
    await db.execute(_ASK, {"ids": list(ids), "question": number})
    days = [(day, int(count)) for day, count in await db.execute(_BY_DAY, {"question": number})]
    if not days:
        await cursors.drop(db, f"{KIND}:{number}")
        return
    missing, first, last = sum(count for _, count in days), days[-1][0], days[0][0]
    known = await db.scalar(_KNOWN, {"generation": generation, "first": first, "last": last}) or 0
    pending = {
        "missing": missing,
        "known": known,
        "listed": known - missing,
        "first": first.isoformat(),
        "last": last.isoformat(),
        "days": [(day.isoformat(), count) for day, count in days[:EXAMPLES]],
        "more_days": len(days) > EXAMPLES,
        "at": now.isoformat(),
        "run_id": number,
        "refused_by": None,
    }
    await cursors.write(
        db, RESOURCE, f"{KIND}:{number}", kind=KIND, state="refused", generation=number, pending=pending,
        note=sentence(pending),
    )  # fmt: skip


def sentence(pending: dict[str, Any]) -> str:
    """For the operator: what the server said, and what was not done."""
    return (
        f"The server no longer has {pending['missing']} of {pending['known']} known punches of {days(pending)}."
        " None of them was marked as gone. Decide in the Sync Center."
    )


def days(pending: Mapping[str, Any]) -> str:
    """The day that is missing punches, or the first and the last of them."""
    first, last = pending["first"], pending["last"]
    return days_words(date.fromisoformat(first), date.fromisoformat(last), None)


def _waits(asked: Cursor) -> bool:
    return asked.state == "refused" and not (asked.pending or {}).get("refused_by")


async def undecided(db: AsyncSession) -> Cursor | None:
    """The question that waits for a person."""
    return next((one for one in await _questions(db) if _waits(one)), None)


async def question(db: AsyncSession) -> Cursor | None:
    """The one that waits, or the latest that was refused: a person may still decide otherwise."""
    found = [one for one in await _questions(db) if one.state == "refused"]
    return await undecided(db) or (found[0] if found else None)


async def refuse(db: AsyncSession, actor: Actor, asked: Cursor) -> None:
    """Keeps the punches, because servers remove old ones themselves. No person is asked about the same punches
    again."""
    pending = {**(asked.pending or {}), "refused_by": actor.name}
    await cursors.write(db, RESOURCE, asked.window, kind=KIND, state="refused", pending=pending)
    await looking.look_soon(db)
    await record(db, actor, "clock.disappearance.refuse", "clock_listing", RESOURCE, after={"kept": pending["missing"]})


async def confirm(db: AsyncSession, actor: Actor, asked: Cursor, now: datetime) -> int:
    """Marks up to a thousand at once and leaves the rest to the next import. Returns how many there are in all."""
    missing: int = (asked.pending or {}).get("missing", 0)
    await cursors.write(db, RESOURCE, asked.window, kind=KIND, state="open")
    await record(db, actor, "clock.disappearance.confirm", "clock_listing", RESOURCE, after={"missing": missing})
    await _mark_some(db, asked.generation, now)
    await marks.ask_for_import(db)
    return missing


async def carry_out(open_transaction: Open, now: datetime) -> None:
    """Marks what a person confirmed and what was too much for one request, some at a time."""
    async with open_transaction() as db:
        confirmed = [one.generation for one in await _questions(db) if one.state == "open"]
    for number in confirmed:
        left = True
        while left:
            async with open_transaction() as db:
                left = await _mark_some(db, number, now)


async def _mark_some(db: AsyncSession, number: int, now: datetime) -> bool:
    """True when there may be more. A question without punches is over."""
    ids = (await db.scalars(_ASKED, {"question": number, "some": SLICE})).all()
    if ids:
        await mark(db, ids, now)
        await db.execute(_DECIDED, {"ids": ids})
    else:
        await cursors.drop(db, f"{KIND}:{number}")
    return bool(ids)
