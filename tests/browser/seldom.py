"""What a portal seldom holds, for a walk that looks at every page: acts on many records and punches, over and under
way, a mass of punches and of people that the server has no more, and what backups call."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Job, User
from app.clock.mirror import gone
from app.clock.models import Cursor, Punch
from app.db.session import Database
from app.host.backups.models import BackupWatch
from app.host.models import AttendanceRecord, DayLock, SavedView
from app.long_acts.models import LongAct, LongActItem
from app.problems import looking
from app.problems.models import Problem
from app.surveys.models import Survey
from app.webhooks.models import WebhookEndpoint
from tests.browser.in_database import in_database
from tests.one_of_each import fill_webhooks

LONG_WHY = (
    "Its shift 22:00–06:15 would join record 1031 (Mon 16 Nov, 22:00–06:00) and record 1032 (Tue 17 Nov, 06:10–14:00)."
)

VIEW = "The people of both halls who have no code yet"


@contextmanager
def seldom(database_url: str) -> Iterator[list[str]]:
    """Gives the addresses; what was there before is there again after."""
    addresses: list[str] = []

    async def fill(database: Database) -> None:
        async with database.transaction() as db:
            # Only a person with a second factor is led to the last two.
            theirs = ("/account/second-factor/recovery", "/account/passkeys/new")
            addresses.extend(
                [
                    *await _acts(db),
                    *await _questions(db),
                    *await _surveys(db),
                    *theirs,
                    *await _problems(db),
                    *await _fixes(db),
                ]
            )
            await fill_webhooks(db)
            alice = select(User.id).where(User.email == "alice@example.org").scalar_subquery()
            await db.execute(insert(SavedView).values(list="people", name=VIEW, query="q=ada", user_id=alice))
            await db.execute(
                insert(BackupWatch).values(
                    id=1, secret_hash=b"no address leads here", hint="k3Yx", made_by="Alice Adler"
                )
            )
            addresses.extend(["/webhooks", "/admin/backups"])

    async def empty(database: Database) -> None:
        async with database.transaction() as db:
            await db.execute(delete(LongAct).where(LongAct.actor_name == "Bob Brandt"))
            await db.execute(delete(Job).where(Job.error == LONG_WHY))
            await db.execute(delete(WebhookEndpoint).where(WebhookEndpoint.secret == "sealed"))
            await db.execute(delete(BackupWatch))
            await db.execute(delete(DayLock).where(DayLock.locked_by == LONG_WHY))
            await db.execute(delete(SavedView).where(SavedView.name == VIEW))
            await looking.look(db)
            await db.execute(delete(Cursor).where(Cursor.kind == gone.KIND))
            await db.execute(
                update(Cursor).where(Cursor.resource == "employees").values(state="complete", pending=None)
            )

    in_database(database_url, fill)
    yield addresses
    in_database(database_url, empty)


async def _acts(db: AsyncSession) -> list[str]:
    records = list(await db.scalars(select(AttendanceRecord.id).order_by(AttendanceRecord.id).limit(3)))
    punches = list(await db.scalars(select(Punch.id).order_by(Punch.id).limit(3)))
    left_records = [(records[0], "decided", None), (records[1], "edited", None), (records[2], "done", None)]
    left_punches = [(punches[0], "record_edited", None), (punches[1], "refused", LONG_WHY), (10**9, "changed", None)]
    return [
        f"/clock_employees/acts/{await _act(db, 'move', left_records)}",
        f"/clock_employees/acts/{await _act(db, 'take_back', [*left_records, (10**9, None, None)])}",
        f"/clock_transactions/acts/{await _act(db, 'use', left_punches)}",
        f"/acts/{await _act_over_list(db, {})}",
        f"/acts/{await _act_over_list(db, {'done': 123_456, 'locked': 2}, left_records[:2])}",
    ]


async def _problems(db: AsyncSession) -> list[str]:
    """Of jobs that failed, as a look finds them.
    The question before a remedy stands behind no link where the remedy asks nothing."""
    failed = {
        "workspace": "main",
        "name": "housekeeping",
        "status": "failed",
        "error": LONG_WHY,
        "finished_at": datetime.now(UTC),
    }
    await db.execute(insert(Job), [{**failed, "key": f"housekeeping:{number}"} for number in range(9)])
    # The portal's own worker may be looking at this moment; two looks never run at once.
    while not await looking.look(db):  # noqa: ASYNC110 - nothing tells when the other look ends
        await asyncio.sleep(0.05)
    newest = (await db.execute(select(func.max(Problem.id)).where(Problem.kind == "job_failed"))).scalar_one()
    return [f"/problems/{newest}", f"/problems/{newest}/remedy", "/problems?kind=job_failed", "/problems?state=closed"]


async def _act_over_list(
    db: AsyncSession, counts: dict[str, int], left: list[tuple[int, str, None]] | None = None
) -> int:
    """Over, where it left some."""
    over = {"finished_at": datetime.now(UTC), "stop_requested": True, "stopped_by": LONG_WHY[:60]} if left else {}
    listed = {"list_query": "status=pending", "arguments": {"url": "/attendance", "what": {}, "by": {}}}
    values = {"kind": "attendance.approved", "actor_name": "Bob Brandt", "emp_codes": [], "counts": counts}
    made = insert(LongAct).values(**values, **listed, **over, total=1_234_567).returning(LongAct.id)
    act_id = (await db.execute(made)).scalar_one()
    for item, _, note in left or []:
        await db.execute(insert(LongActItem).values(act_id=act_id, item_id=item, became="locked", note=note))
    return act_id


async def _act(db: AsyncSession, kind: str, items: list[tuple[int, str | None, str | None]]) -> int:
    """Over, unless an item still waits for its turn."""
    is_over = all(became for _, became, _ in items)
    values = {"kind": kind, "actor_name": "Bob Brandt", "emp_codes": ["1001"]}
    if is_over:
        values["finished_at"] = datetime.now(UTC)
    act_id = (await db.execute(insert(LongAct).values(values).returning(LongAct.id))).scalar_one()
    rows = [{"act_id": act_id, "item_id": item, "became": became, "note": note} for item, became, note in items]
    await db.execute(insert(LongActItem), rows)
    return act_id


async def _surveys(db: AsyncSession) -> list[str]:
    """Pages of surveys that repeat, and of anonymous ones."""
    repeating = await db.scalar(select(Survey.uid).where(Survey.repeat.is_not(None)).limit(1))
    anonymous = await db.scalar(select(Survey.uid).where(Survey.anonymity == "anonymous").limit(1))
    return [
        f"/surveys/view/{repeating}/rounds",
        f"/surveys/waiting/{repeating}/drop",
        f"/surveys/languages/{repeating}",
        f"/surveys/results/{anonymous}",
    ]


async def _fixes(db: AsyncSession) -> list[str]:
    """The questions to which *Why?* leads: before a terminal that sends one key only is set, before a record is set
    back, and before a day is opened again."""
    undirected = await db.scalar(select(Punch.id).where(Punch.import_outcome == "no_direction").limit(1))
    record = await db.scalar(select(AttendanceRecord.id).limit(1))
    await db.execute(insert(DayLock).values(day=date(2020, 1, 1), locked_by=LONG_WHY))
    return [
        f"/clock_transactions/{undirected}/terminal",
        f"/attendance/{record}/set_back",
        "/attendance/locks/unlock?from=2020-01-01&to=2020-01-01",
    ]


async def _questions(db: AsyncSession) -> list[str]:
    known = {"missing": 1234, "known": 2345, "listed": 1111, "refused_by": None, "at": datetime.now(UTC).isoformat()}
    days = [(str(date(2026, 11, 20) - timedelta(days=number)), 40 + number) for number in range(20)]
    punches: dict[str, Any] = {
        **known, "first": "2026-11-01", "last": "2026-11-20", "days": days, "more_days": True, "run_id": 1,
    }  # fmt: skip
    asked = {"resource": gone.RESOURCE, "window": f"{gone.KIND}:1", "kind": gone.KIND, "state": "refused"}
    await db.execute(
        insert(Cursor).values({**asked, "generation": 1, "pending": punches, "note": gone.sentence(punches)})
    )
    people = {**known, "generation": 10**6, "run_id": 1, "examples": [], "digest": ""}
    await db.execute(update(Cursor).where(Cursor.resource == "employees").values(state="refused", pending=people))
    return ["/clock_sync/disappearance/transactions", "/clock_sync/disappearance/employees"]
