"""The job `alerts`: plans news for people, and hands due mails to the outbox. One at a time in each workspace."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import tenants
from app.alerts import news, people, timing, waiting
from app.alerts.people import AlertReader
from app.alerts.timing import STORM_WINDOW, Lately
from app.alerts.waiting import WaitingAlert
from app.db.among import among
from app.db.locks import hold_name
from app.db.session import workspace_of
from app.mail import outbox
from app.mail.models import OutgoingMail
from app.mail.outbox import NewMail
from app.parts import Parts
from app.problems.kinds import kinds

ALERT, STORM, DIGEST, SUM = "alert", "alert_storm", "alert_digest", "alert_sum"
# A mail about many names this many problems, and counts the others.
NAMED: Final = 20
_WORST_FIRST = {"critical": 0, "warning": 1}


@dataclass(frozen=True, slots=True)
class _DueForPerson:
    """What is due for one person."""

    person: AlertReader
    alerts: Sequence[WaitingAlert]
    lately: Lately


async def tell(parts: Parts, workspace: str) -> None:
    """Tells all that is due."""
    more = True
    while more:
        async with parts.database.transaction(workspace) as db:
            more = await tell_some(parts, db, datetime.now(UTC))


async def tell_some(parts: Parts, db: AsyncSession, now: datetime) -> bool:
    """Tells a part in one transaction. True while there may be more. News of a deactivated tenant waits."""
    await hold_name(db, "alerts")
    if not await tenants.hold_active(db, workspace_of(db)):
        return False
    if not outbox.is_on(parts.settings):
        await news.forget_old(db, now)
        return False
    there = await people.readers(db)
    more = await news.spread(db, there, now)
    await _tell_sum(parts, db, there, await news.quiet_sums(db, now), now)
    due = await waiting.due(db, now)
    gone = [_over(one) for one in due if one.user_id not in there]
    told = [await _tell(parts, db, one, now) for one in await _by_person(db, there, due, now)]
    await waiting.write(db, [*gone, *(one for those in told for one in those)])
    return more or len(due) == waiting.MOST


async def _tell_sum(
    parts: Parts, db: AsyncSession, there: Mapping[int, AlertReader], found: Mapping[str, int], now: datetime
) -> None:
    for person in there.values():
        # A worker of another version may have found kinds that this one does not know.
        known = {kind: number for kind, number in found.items() if kind in person.kinds}
        wanted = {kind: number for kind, number in known.items() if person.wants(kind, kinds()[kind].severity)}
        if wanted:
            at = timing.sum_at(person.rules, [(kind, kinds()[kind].severity) for kind in wanted], now)
            due_at = at if at > now else None
            await outbox.post(parts, db, NewMail(SUM, {"opened": wanted}, person.user_id, due_at=due_at))


async def _by_person(
    db: AsyncSession, there: Mapping[int, AlertReader], due: Iterable[WaitingAlert], now: datetime
) -> list[_DueForPerson]:
    theirs: dict[int, list[WaitingAlert]] = defaultdict(list)
    for one in due:
        if one.user_id in there:
            theirs[one.user_id].append(one)
    lately = await _lately(db, theirs.keys(), now) if theirs else {}
    return [_DueForPerson(there[user_id], alerts, lately.get(user_id, Lately())) for user_id, alerts in theirs.items()]


async def _lately(db: AsyncSession, user_ids: Collection[int], now: datetime) -> dict[int, Lately]:
    """What people got within the storm's window; only people who got something."""
    mine = (
        OutgoingMail.workspace == workspace_of(db),
        among(OutgoingMail.user_id, user_ids),
        OutgoingMail.kind.in_([ALERT, STORM]),
        OutgoingMail.created_at > now - STORM_WINDOW,
    )
    counted = select(
        OutgoingMail.user_id,
        func.count().filter(OutgoingMail.kind == ALERT).label("alerts"),
        func.max(OutgoingMail.created_at).filter(OutgoingMail.kind == STORM).label("storm_at"),
    )
    rows = await db.execute(counted.where(*mine).group_by(OutgoingMail.user_id))
    return {row.user_id: Lately(row.alerts, row.storm_at) for row in rows}


async def _tell(parts: Parts, db: AsyncSession, due: _DueForPerson, now: datetime) -> list[WaitingAlert]:
    """Tells one person what is due. Returns what became of their alerts."""
    person = due.person
    found = [(one, _fate(person, one, now)) for one in due.alerts]
    rows = [_over(one) for one, (fate, _) in found if fate == "drop"]
    rows += [_put_off(one, until) for one, (fate, until) in found if fate == "wait"]
    told = [one for one, (fate, _) in found if fate == "tell"]
    digest = [one for one in told if timing.pace_of(person.rules, one.alert) == "digest"]
    single = [one for one in told if timing.pace_of(person.rules, one.alert) != "digest"]
    if digest:
        rows += await _tell_many(parts, db, DIGEST, digest)
    match timing.bundled(len(single), due.lately, now):
        case "hold", until:
            # Critical alerts do not wait for the storm to end, unless they are a storm themselves.
            critical = [one for one in single if one.alert.severity == "critical"]
            at_once = critical if len(critical) <= timing.STORM else []
            rows += [await _tell_one(parts, db, one) for one in at_once]
            rows += [_put_off(one, until) for one in single if one not in at_once]
        case "one", _:
            rows += await _tell_many(parts, db, STORM, single)
        case _:
            rows += [await _tell_one(parts, db, one) for one in single]
    return rows


def _fate(person: AlertReader, one: WaitingAlert, now: datetime) -> tuple[timing.Fate, datetime | None]:
    return timing.fate(person.rules, one.alert, now) if one.alert.kind in person.kinds else ("drop", None)


def _over(one: WaitingAlert) -> WaitingAlert:
    return replace(one, alert=replace(one.alert, state="over", due_at=None))


def _put_off(one: WaitingAlert, until: datetime | None) -> WaitingAlert:
    return replace(one, alert=replace(one.alert, due_at=until))


async def _tell_one(parts: Parts, db: AsyncSession, one: WaitingAlert) -> WaitingAlert:
    key = str(uuid.uuid4())
    facts = {"problem": one.problem_id, "news": "closed" if one.alert.closed_at else "opened"}
    await outbox.post(parts, db, NewMail(ALERT, facts, one.user_id, key=key, thread=one.thread))
    return replace(one, alert=timing.told(one.alert), thread=one.thread or key)


async def _tell_many(parts: Parts, db: AsyncSession, kind: str, those: Sequence[WaitingAlert]) -> list[WaitingAlert]:
    """One mail with sums by kind, which names the worst problems. Mails about their closing reply to it."""
    key = str(uuid.uuid4())
    await outbox.post(parts, db, NewMail(kind, _facts(those), those[0].user_id, key=key))
    return [replace(one, alert=timing.told(one.alert), thread=one.thread or key) for one in those]


def _facts(those: Iterable[WaitingAlert]) -> dict[str, Any]:
    ordered = sorted(those, key=lambda one: (_WORST_FIRST.get(one.alert.severity, 2), one.alert.opened_at))
    opened = [one for one in ordered if one.alert.closed_at is None]
    closed = [one for one in ordered if one.alert.closed_at is not None]
    return {
        "opened": dict(Counter(one.alert.kind for one in opened).most_common()),
        "closed": dict(Counter(one.alert.kind for one in closed).most_common()),
        "named": [one.problem_id for one in (*opened, *closed)][:NAMED],
    }
