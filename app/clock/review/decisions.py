"""What a person decides about punches: retry, use the punches, keep the record (docs/rules.md, "Outcome of a shift").

The rules are in pairing/judge.py and pairing/use_punches.py. Here is who is held meanwhile, what is written, and the
audit. Where it is cheap, the import of just these people runs in the same transaction,
so that the person sees the result at once.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Update, and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.clock.importing import batch, facts
from app.clock.importing import rows as import_rows
from app.clock.importing.facts import Surroundings
from app.clock.importing.owners import read_owners
from app.clock.importing.rows import JudgedPunch
from app.clock.models import Punch
from app.clock.outcomes import Outcome, outcome_label
from app.clock.pairing import use_punches as pairing_use
from app.clock.pairing.inputs import UNPAIRED, PairingEmployee, PairingPunch
from app.clock.pairing.use_punches import Use, UseRefusal
from app.clock.pairing.verdicts import Judgement, Reason, Rule, UpdateRecord
from app.clock.punches import changes, marks
from app.clock.punches.forgetting_records import forget_record
from app.clock.review import sentences
from app.counting import count
from app.errors import Conflict, NotFound
from app.host.attendance import imported
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord

LATE = Outcome.ARRIVED_LATE.value
# What judging again can change at all: line 0 holds the rest.
RETRIABLE = and_(or_(Punch.host_attendance_id.is_(None), Punch.import_outcome == LATE), Punch.gone_at_utc.is_(None))
# Where a retry lifts a deletion: until the punch belongs to a record again.
_LIFTING = func.coalesce(Punch.import_outcome, "").in_({Outcome.ATTENDANCE_DELETED.value, *UNPAIRED})


@dataclass(frozen=True, slots=True)
class Resolved:
    """How many punches the act was about, and what became of them:
    outcome → how many, None while the import is to come."""

    punches: int
    outcomes: dict[str, int] | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Marked:
    """The punches that a change reached: outcome → how many; their ids, at most one more than can be imported at once;
    and their local days."""

    outcomes: dict[str, int]
    ids: list[int]
    days: set[date]

    @property
    def total(self) -> int:
        return sum(self.outcomes.values())


@dataclass(frozen=True, slots=True)
class Used:
    """Punches of the shift that was used and those that it released, and the codes that are to be judged."""

    touched: list[int]
    codes: list[str]


class Unusable(Conflict):
    """*Use the punches* is refused. `word` names the rule, for an act on many;
    `taps` are refused for the same reason."""

    def __init__(self, word: str, message: str, taps: frozenset[int] = frozenset()) -> None:
        super().__init__(message)
        self.word = word
        self.taps = taps


async def retry(db: AsyncSession, actor: Actor, which: ColumnElement[bool]) -> Resolved:
    """Has punches judged again and deleted records made again. Those that line 0 holds stay."""
    wanted = (which, RETRIABLE)
    codes = list(await db.scalars(select(Punch.emp_code).where(*wanted).distinct().limit(batch.MOST_CODES + 1)))
    owners = await batch.hold_owners(db, codes) if len(codes) <= batch.MOST_CODES else None
    again = update(Punch).where(marks.in_order(and_(*wanted))).values(retry=Punch.retry | _LIFTING, judge_at=marks.NOW)
    found = await change_punches(db, again)
    if not found.ids:
        return Resolved(0)
    await marks.ask_for_import(db)
    after = await batch.import_now(db, codes, found.ids, owners) if owners is not None else None
    told = {"outcomes": after, "retry": True}
    await audit_marked(db, actor, "clock.retry", found, before={"outcomes": found.outcomes}, after=told)
    return Resolved(found.total, after)


async def change_punches(db: AsyncSession, change: Update) -> Marked:
    """Makes this change to punches, and says which ones it reached."""
    marked = change.returning(Punch.id, Punch.import_outcome.label("outcome"), Punch.local_date).cte("marked")
    outcome = func.coalesce(marked.c.outcome, "")
    some = func.array_agg(marked.c.id, type_=ARRAY(BigInteger))[1 : batch.MOST_PUNCHES + 1]
    days = func.array_agg(marked.c.local_date.distinct())
    rows = (await db.execute(select(outcome, func.count(), some, days).group_by(outcome))).all()
    return Marked(
        {word: number for word, number, _, _ in rows},
        [one for _, _, ids, _ in rows for one in ids],
        {day for *_, on in rows for day in on},
    )


async def audit_marked(
    db: AsyncSession,
    actor: Actor,
    act: str,
    found: Marked,
    *,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    """One row however many there are: a whole filter may hold a million."""
    subject = found.ids[0] if found.total == 1 else f"{found.total} punches"
    await audit.record(db, actor, act, "punch", subject, before=before, after=after)


async def use_punches(db: AsyncSession, actor: Actor, punch_id: int, *, agreed: str | None = None) -> Resolved:
    """Makes the earliest record what the shift is now, deletes the others of its taps,
    and releases the taps outside it.

    `agreed` is what the person was told that this does (`what_happens`). Raises NotFound, and Conflict with the reason
    where it is refused (a record decided or edited, a locked day, …) or does something else by now.
    """
    now = await batch.database_time(db)
    before = await facts.around(db, punch_id, now)
    people = await _people(db, before, await facts.read_linked(db, before.facts))
    await attendance.hold(db, people)
    used = await use_shift(db, actor, await facts.around(db, punch_id, now), people, agreed=agreed)
    await marks.ask_for_import(db)
    return Resolved(len(used.touched), await batch.import_now(db, used.codes, used.touched))


async def use_shift(
    db: AsyncSession, actor: Actor, seen: Surroundings, held: Collection[int], *, agreed: str | None = None
) -> Used:
    """The same for a caller who holds the employees `held` and asks for the import.
    Raises Unusable with nothing written."""
    if not await changes.may_judge(db):
        sentence = await changes.what_holds_back(db) or "A change of all punches has just begun."
        raise Unusable("changing", f"{sentence} Try again after that; the Sync Center shows how far it is.")
    linked = await facts.read_linked(db, seen.facts)
    if await _people(db, seen, linked) - set(held):
        raise Unusable("changed", "A binding changed just now. Reload the page.")
    planned = planned_for(seen, seen.judged(), linked)
    if agreed is not None and agreed != what_happens(planned, seen):
        raise Unusable("changed", f"Something has changed. It would now do this: {what_happens(planned, seen)}")
    await _audit_use(db, actor, seen.punch_id, planned)
    await _carry_out(db, actor, planned, seen)
    codes = await forget_record(db, Punch.id.in_(planned.released))
    touched = [*(one.punch_id for one in planned.verdicts), *planned.released]
    return Used(touched, sorted({*seen.facts.codes, *codes}))


def planned_for(seen: Surroundings, judgement: Judgement, linked: Sequence[PairingPunch]) -> Use:
    """The plan of a punch that arrived late. Raises Unusable with the reason where there is none."""
    verdict = facts.verdict_on(seen.punch_id, judgement)
    if verdict is None:
        raise Unusable("unread", "The days before this punch are not fully read yet.")
    planned = plan(seen, linked)
    if isinstance(planned, UseRefusal):
        because = planned.because
        sentence = sentences.explain_refusal(because, judgement, seen.punch)
        raise Unusable(because.rule.value, sentence, _taps(because))
    if verdict.outcome is not Outcome.ARRIVED_LATE:
        raise Unusable(Rule.NOT_LATE.value, "This punch no longer counts as a late arrival. Reload the page.")
    return planned


def _taps(because: Reason) -> frozenset[int]:
    shift = because.shift
    return frozenset() if shift is None else frozenset(tap.punch.id for tap in (*shift.taps, *shift.folds))


def plan(seen: Surroundings, linked: Sequence[PairingPunch]) -> Use | UseRefusal:
    """What *Use the punches* would write. Raises Conflict when the code is not bound."""
    if not isinstance(seen.who, PairingEmployee):
        raise Unusable(Rule.NOT_BOUND.value, "This code is no longer bound to an employee.")
    return pairing_use.use_punches(seen.case, seen.punch_id, linked)


def what_happens(use: Use, seen: Surroundings) -> str:
    """The plan as a sentence for the person who decides."""
    update_, zone = use.update, seen.case.rules.zone
    end = f"{update_.clock_out.astimezone(zone):%H:%M}" if update_.clock_out else "(open)"
    pauses = [f"{out.astimezone(zone):%H:%M}–{back.astimezone(zone):%H:%M}" for out, back in update_.breaks]
    breaks = f" with a break {' and '.join(pauses)}" if pauses else ""
    parts = [f"record {update_.record_id} becomes {update_.clock_in.astimezone(zone):%H:%M}–{end}{breaks}"]
    if any(one.id == update_.record_id and one.employee_id != update_.employee_id for one in seen.records):
        parts.append("it goes to the employee that the code is bound to now")
    parts += [f"record {one} is deleted" for one in use.delete]
    if use.released:
        taps = ("tap outside this shift is", "taps outside this shift are")
        parts.append(f"{count(len(use.released), *taps)} judged again")
    return "; ".join(parts) + "."


async def _people(db: AsyncSession, seen: Surroundings, linked: Sequence[PairingPunch]) -> set[int]:
    """Everybody whose records or punches may be touched."""
    owners = await read_owners(db, {one.emp_code for one in linked})
    found = {who.id for who in (seen.who, *owners.values()) if isinstance(who, PairingEmployee)}
    return found | {one.employee_id for one in seen.records}


async def _carry_out(db: AsyncSession, actor: Actor, use: Use, seen: Surroundings) -> None:
    update_ = use.update
    await marks.mark_waiting_near(db, [update_.record_id, *use.delete])
    await import_rows.update_record(db, update_.record_id, _hours(update_), update_.workday)
    await imported.set_owner(db, [update_.record_id], update_.employee_id)
    await imported.delete_records(db, use.delete, actor.name)
    judge_at = seen.facts.judge_at
    await import_rows.store_verdicts(
        db,
        [
            JudgedPunch(
                one.punch_id,
                one.outcome,
                one.record,
                one.role,
                covered_by=None,
                retry=False,
                lifted=False,
                repeats_id=one.repeats,
                judge_at=None,
                seen=judge_at[one.punch_id],
                news=True,
            )
            for one in use.verdicts
        ],
    )


def _hours(intent: UpdateRecord) -> Hours:
    return Hours(intent.clock_in, intent.clock_out, intent.breaks, intent.kind.value)


async def _audit_use(db: AsyncSession, actor: Actor, punch_id: int, use: Use) -> None:
    """Under the records, where their history is shown, and under the punch."""
    ids = [use.update.record_id, *use.delete]
    records = await db.scalars(select(AttendanceRecord).where(AttendanceRecord.id.in_(ids)))
    before = {one.id: {"employee_id": one.employee_id, **Hours.of(one).told()} for one in records}
    if len(before) != len(ids):
        raise NotFound("A record of this punch is gone. Reload the page.")
    after = {"employee_id": use.update.employee_id, **_hours(use.update).told(), "punch": punch_id}
    changes = [audit.AuditedChange(use.update.record_id, before[use.update.record_id], after)]
    changes += [audit.AuditedChange(one, before[one], {"deleted": True, "punch": punch_id}) for one in use.delete]
    await audit.record_many(db, actor, "clock.use_punches", "attendance", changes)
    counted = dict(Counter(one.outcome.value for one in use.verdicts))
    told = {
        "record": use.update.record_id,
        "deleted": list(use.delete),
        "released": list(use.released),
        "outcomes": counted,
    }
    await audit.record(db, actor, "clock.use_punches", "punch", punch_id, before={"outcome": LATE}, after=told)


def judged_again(punches: int, outcomes: Mapping[str, int] | None) -> str:
    """What became of punches, as one sentence. `outcomes`: outcome → how many, "" for none yet; None while the import
    is to come."""
    if outcomes is None:
        are = count(punches, "punch is", "punches are")
        return f"{are} judged again by the import that just started; it may take a minute."
    if punches == 1:
        return f"1 punch was judged again: {', '.join(outcome_label(word or None) for word in outcomes)}."
    became = ", ".join(f"{number:,} × {outcome_label(word or None)}" for word, number in sorted(outcomes.items()))
    return f"{count(punches, 'punch was', 'punches were')} judged again: {became}."
