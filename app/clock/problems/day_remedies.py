"""What helps against the problems of a person's day: acts on its punches that wait for a decision."""

from collections.abc import Awaitable, Callable, Collection, Sequence

from sqlalchemy import ColumnElement, and_, text

from app.clock.models import Punch
from app.clock.problems.code_remedies import CHANGED, chosen
from app.clock.problems.person_days import IS_OF_NO_TERMINAL, day_of, who_of
from app.clock.review import decisions, settling, using_many
from app.clock.review.long_act_words import told
from app.counting import count
from app.db.among import among
from app.errors import Conflict
from app.problems.kinds import Remedy, RemedyAsked, held

DECIDES = "clock.transactions.edit"
# The punches that day_facts.py counts.
_OF_DAYS = text(
    f"""
    SELECT p.id, wanted.subject
    FROM unnest(CAST(:subjects AS text[]), CAST(:employees AS bigint[]), CAST(:codes AS text[]), CAST(:days AS date[]))
        AS wanted (subject, employee, code, day)
    JOIN clock_transactions p ON p.local_date = wanted.day AND p.import_outcome = :outcome
        AND p.settled_at_utc IS NULL AND p.gone_at_utc IS NULL
    LEFT JOIN clock_employee_bindings b ON b.emp_code = p.emp_code
    WHERE (b.host_employee_id = wanted.employee OR (b.host_employee_id IS NULL AND p.emp_code = wanted.code))
        AND {IS_OF_NO_TERMINAL}
    ORDER BY p.id
    """
)


def _of_days(outcome: str, acts: Sequence[str]) -> Callable[[RemedyAsked], Awaitable[Collection[str]]]:
    async def do(asked: RemedyAsked) -> set[str]:
        act = chosen(asked, acts)
        found = await _punches_of(asked, outcome)
        if not found:
            raise Conflict(CHANGED)
        is_over = await _ON_PUNCHES[act](asked, list(found), outcome)
        left = set((await _punches_of(asked, outcome)).values()) if is_over else set()
        return set(found.values()) - left

    return do


async def _punches_of(asked: RemedyAsked, outcome: str) -> dict[int, str]:
    """The punches that wait for a decision, each with the day that is its subject."""
    who = [who_of(one) for one in asked.subject_ids]
    given = {
        "subjects": list(asked.subject_ids),
        "employees": [one if of == "employee" else None for of, one in who],
        "codes": [one if of == "code" else None for of, one in who],
        "days": [day_of(one) for one in asked.subject_ids],
        "outcome": outcome,
    }
    return {row.id: row.subject for row in await asked.db.execute(_OF_DAYS, given)}


async def _settle(asked: RemedyAsked, ids: Sequence[int], outcome: str) -> bool:
    settled = await settling.settle(asked.db, asked.actor, _still(ids, outcome))
    _tell_of_others(asked, len(ids) - settled.punches)
    return True


async def _keep(asked: RemedyAsked, ids: Sequence[int], outcome: str) -> bool:
    kept = await settling.keep_record(asked.db, asked.actor, _still(ids, outcome))
    _tell_of_others(asked, len(ids) - kept.punches)
    return True


async def _retry(asked: RemedyAsked, ids: Sequence[int], outcome: str) -> bool:
    await decisions.retry(asked.db, asked.actor, _still(ids, outcome))
    return False


def _still(ids: Sequence[int], outcome: str) -> ColumnElement[bool]:
    """An import may give one of them another outcome meanwhile: of that a person has not decided."""
    return and_(among(Punch.id, ids), settling.shows(outcome))


def _tell_of_others(asked: RemedyAsked, others: int) -> None:
    if others:
        asked.notes.append(
            f"{count(others, 'punch has', 'punches have')} changed meanwhile. Nothing was done about it."
        )


async def _use(asked: RemedyAsked, ids: Sequence[int], _: str) -> bool:
    """Raises Conflict with the reason where a shift can't be used; of many those are left."""
    if len(asked.subject_ids) == 1:
        used = await decisions.use_punches(asked.db, asked.actor, ids[0])
        asked.notes.append(decisions.judged_again(used.punches, used.outcomes))
        return True
    using = await using_many.use(asked.db, asked.actor, among(Punch.id, ids), most=100)
    asked.notes.append(told(using).sentence)
    return using.finished_at is not None


# True when the act is over: what it left then still waits.
# A punch that is judged again may wait on, and an act of many may be a job.
_ON_PUNCHES = {"settle": _settle, "keep": _keep, "retry": _retry, "use": _use}
_LABELS = {"settle": "Mark as settled", "keep": "Keep the record", "retry": "Retry", "use": "Use the punches"}


def of_days(outcome: str, *acts: str) -> Remedy:
    """The first act stands on the button; with several, the person chooses."""
    choices = tuple((one, _LABELS[one]) for one in acts) if len(acts) > 1 else ()
    return Remedy(_LABELS[acts[0]], DECIDES, _of_days(outcome, acts), choices=choices, many=True, about=held)
