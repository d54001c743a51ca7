"""Why a punch shows what it shows: the rule with its numbers, the day's taps, the records, and what would change it.

Judges around the punch as the import would, and writes nothing. The sentences are in review/sentences.py;
what a person decides is in review/decisions.py; the picture is in review/timeline.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import facts
from app.clock.importing.facts import Surroundings
from app.clock.mirror import devices
from app.clock.models import Punch
from app.clock.outcomes import OUTCOMES, Outcome, outcome_label
from app.clock.pairing.inputs import PairingEmployee, Record
from app.clock.pairing.judge import obstacles
from app.clock.pairing.use_punches import Use, UseRefusal
from app.clock.pairing.verdicts import Judgement, Reason, Verdict
from app.clock.punches import changes
from app.clock.punches.queries import PUNCHES
from app.clock.review import decisions, fixes, punch_history, sentences, settled_words, timeline
from app.clock.review import links as review_links
from app.clock.review.fixes import Fix
from app.clock.review.links import ReviewLink
from app.dates import PageZone
from app.errors import NotFound
from app.host.models import Employee

_KEEP = "Keep the record: it stays as it is, and this punch is settled."


@dataclass(frozen=True, slots=True)
class PossibleAct:
    """Something that a person may do, and what it will do; `possible` False says why not. `agreed` is what the verb is
    told, so that it refuses to do something else."""

    sentence: str
    possible: bool = True
    agreed: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """`fixes`: the first one leads. `cause` says what is wrong with more than this punch. `waits` says why the import
    judges nothing now. `pending` says what the next import makes of the punch where that differs from what is shown;
    `is_marked` says that this import comes by itself. `also` are the obstacles that the first one hides. Acts are None
    where they make no sense, or change nothing."""

    punch: Row[Any]
    label: str
    meaning: str
    owner: Any
    sentence: str
    change: str
    waits: str | None
    history: Sequence[str]
    cause: str
    fixes: Sequence[Fix]
    also: Sequence[str]
    links: Sequence[ReviewLink]
    line: dict[str, Any]
    records: Sequence[Record]
    pending: str | None
    is_marked: bool
    retry: PossibleAct | None
    use: PossibleAct | None
    keep: PossibleAct | None
    settle: PossibleAct | None
    unsettle: PossibleAct | None
    shows_photos: bool
    shows_temperature: bool

    @property
    def is_passing(self) -> bool:
        """True while the next import changes the outcome by itself: what is shown is over, so nothing is to be done."""
        return self.pending is not None and self.is_marked

    @property
    def has_acts(self) -> bool:
        """True when a person may do something here, apart from the fixes."""
        return any((self.use, self.keep, self.settle, self.unsettle, self.retry))

    @property
    def fix(self) -> Fix | None:
        return next(iter(self.fixes), None)

    @property
    def leads(self) -> str:
        """The act that changes the outcome, where no fix does."""
        if self.fix is not None:
            return ""
        if self.use is not None and self.use.possible:
            return "use"
        if self.retry is not None or self.keep is not None:
            return "retry" if self.retry is not None else "keep"
        # Nothing but settling is left once the hours of such a shift were added by hand.
        return "settle" if self.settle is not None and self.punch.import_outcome == Outcome.OVER_24H else ""


async def why(db: AsyncSession, punch_id: int, now: datetime) -> Why:
    """Everything the drawer says about one punch. Raises NotFound."""
    row: Any = (await db.execute(PUNCHES.where(Punch.id == punch_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such punch.")
    seen = await facts.around(db, punch_id, now)
    judgement = seen.judged()
    verdict = facts.verdict_on(punch_id, judgement)
    because = verdict.because if verdict is not None else None
    sentence, change = _sentences(verdict, judgement, row.alias or "")
    if row.settled_by is not None:
        change = settled_words.NOTHING_TO_CHANGE
    waits = await changes.what_holds_back(db)
    behind = _behind(seen, judgement, because)
    outcome = Outcome(row.import_outcome) if row.import_outcome else None
    offered = await fixes.fixes(db, seen, because) if row.settled_at_utc is None else []
    return Why(
        punch=row,
        label=outcome_label(outcome),
        meaning=OUTCOMES[outcome or Outcome.AWAITING].meaning,
        owner=await _owner(db, seen),
        sentence=sentence,
        change=change,
        waits=waits,
        history=await punch_history.told(db, punch_id, PageZone.at(seen.case.rules.zone, now)),
        cause=next((one.cause for one in offered if one.cause), ""),
        fixes=offered,
        also=_hidden(seen, because, judgement, row.alias or ""),
        links=review_links.links(seen, because),
        line=await _named(db, timeline.draw(seen.punch, _shown(seen, because), judgement, behind)),
        records=because.records if because is not None else (),
        pending=_pending(outcome, verdict) if waits is None else None,
        is_marked=_is_marked(seen),
        retry=_retry(seen, outcome, verdict) if waits is None else None,
        use=await _use(db, seen, verdict) if waits is None else None,
        keep=_keep(row, verdict),
        settle=PossibleAct(settled_words.SETTLE) if settled_words.may_settle(row) else None,
        unsettle=PossibleAct(settled_words.UNSETTLE) if row.settled_by is not None else None,
        shows_photos=seen.facts.world.settings.show_photos,
        shows_temperature=seen.facts.world.settings.show_temperature,
    )


def _sentences(verdict: Verdict | None, judgement: Judgement, terminal: str) -> tuple[str, str]:
    if verdict is None:
        return (
            "It is not judged yet: the days before it are not fully read from the time clock.",
            "A sync that reads them. The Sync Center shows its progress.",
        )
    told = sentences.explain(verdict, judgement, terminal)
    return told.sentence, told.change


def _hidden(seen: Surroundings, because: Reason | None, judgement: Judgement, terminal: str) -> list[str]:
    """What would stop the punch once the obstacle that decided is out of the way."""
    if because is None or because.rule not in sentences.ALONE:
        return []
    _, *others = obstacles(seen.punch, seen.who, seen.case.now)
    return [sentences.explain_obstacle(one, judgement, seen.punch, terminal) for one in others]


def _pending(outcome: Outcome | None, verdict: Verdict | None) -> str | None:
    if verdict is None or not verdict.is_news:
        return None
    if verdict.outcome is outcome:
        return "The next import brings its record up to date."
    return f"The next import makes it: {OUTCOMES[verdict.outcome].label}."


async def _owner(db: AsyncSession, seen: Surroundings) -> Any:
    if not isinstance(seen.who, PairingEmployee):
        return None
    found = select(Employee.id, Employee.name, Employee.id_number)
    row: Any = (await db.execute(found.where(Employee.id == seen.who.id))).one_or_none()
    return row


def _shown(seen: Surroundings, because: Reason | None) -> list[Any]:
    """The taps of the shift, and whatever else came on the same local day."""
    zone, shift = seen.case.rules.zone, because.shift if because is not None else None
    members = {tap.punch.id for tap in (*shift.taps, *shift.folds)} if shift is not None else set()
    day = seen.punch.at.astimezone(zone).date()
    return [one for one in seen.case.punches if one.id in members or one.at.astimezone(zone).date() == day]


async def _named(db: AsyncSession, line: dict[str, Any]) -> dict[str, Any]:
    """The line with its terminals by what people call them, where they have a name."""
    taps = line["taps"]
    names = await devices.names(db, {tap["terminal"] for tap in taps})
    return {**line, "taps": [{**tap, "terminal": names.get(tap["terminal"], tap["terminal"])} for tap in taps]}


def _behind(seen: Surroundings, judgement: Judgement, because: Reason | None) -> list[timeline.Band]:
    """Records of the sentence and of the day, and the ones that the next import makes of the taps shown."""
    zone = seen.case.rules.zone
    day = seen.punch.at.astimezone(zone).date()
    named = {one.id for one in because.records} if because is not None else set()
    ids = {one.id for one in _shown(seen, because)}
    records = [one for one in seen.records if one.id in named or _is_on(one, day, seen)]
    planned = [one for one in judgement.creates if ids & set(one.punch_ids)]
    return timeline.bands(records, planned)


def _is_on(record: Record, day: date, seen: Surroundings) -> bool:
    zone = seen.case.rules.zone
    first = record.clock_in.astimezone(zone).date()
    return first <= day <= (record.clock_out or record.clock_in).astimezone(zone).date()


def _is_marked(seen: Surroundings) -> bool:
    """True when the import has this punch before it: who marked it asked for that import."""
    judge_at = seen.facts.judge_at.get(seen.punch_id)
    return judge_at is not None and judge_at <= seen.case.now


def _retry(seen: Surroundings, outcome: Outcome | None, coming: Verdict | None) -> PossibleAct | None:
    """What *Retry* would lead to, found by a rehearsal. None when it changes nothing, or when the next import does it
    anyway."""
    punch = seen.punch
    if punch.gone or (punch.record_id is not None and outcome is not Outcome.ARRIVED_LATE):
        return None
    judgement = seen.judged_after_retry()
    verdict = facts.verdict_on(punch.id, judgement)
    if verdict is None:
        return PossibleAct("Retry: it is judged as soon as the days before it are fully read.")
    if verdict.outcome is outcome or (_is_marked(seen) and coming is not None and coming.outcome is verdict.outcome):
        return None
    made = " and a record is made" if any(punch.id in one.punch_ids for one in judgement.creates) else ""
    return PossibleAct(f"Retry: it becomes {OUTCOMES[verdict.outcome].label}{made}.")


async def _use(db: AsyncSession, seen: Surroundings, verdict: Verdict | None) -> PossibleAct | None:
    if verdict is None or verdict.outcome is not Outcome.ARRIVED_LATE:
        return None
    linked = await facts.read_linked(db, seen.facts)
    match decisions.plan(seen, linked):
        case UseRefusal(because):
            sentence = sentences.explain_refusal(because, seen.judged(), seen.punch)
            return PossibleAct(f"Use the punches is not possible. {sentence}", possible=False)
        case Use() as use:
            plan = decisions.what_happens(use, seen)
            return PossibleAct(f"Use the punches: {plan}", agreed=plan)


def _keep(row: Row[Any], verdict: Verdict | None) -> PossibleAct | None:
    if row.settled_at_utc is not None:
        return None
    if row.gone_at_utc is not None:
        return _keep_gone(row)
    if row.import_outcome != Outcome.ARRIVED_LATE or verdict is None or verdict.outcome is not Outcome.ARRIVED_LATE:
        return None
    return PossibleAct(_KEEP)


def _keep_gone(row: Row[Any]) -> PossibleAct | None:
    if row.host_attendance_id is None and row.edited_record_id is None:
        return None
    return PossibleAct(_KEEP)
