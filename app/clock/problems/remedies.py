"""What helps against a problem of the clock: acts of other rooms,
with the permission that each needs on its own page. Those of a person's day: day_remedies.py."""

from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime

from sqlalchemy import select

from app.clock.connection import saved as connection
from app.clock.mirror import devices, gone, missing_rows, shortfalls
from app.clock.mirror.devices import DIRECTIONS
from app.clock.mirror.key_uses import one_key
from app.clock.models import ClockEmployee
from app.clock.problems.code_remedies import CHANGED, ON_CODES, chosen, leavers, still
from app.clock.sync import run_rows
from app.db.among import among
from app.errors import Conflict
from app.problems.kinds import Facts, Remedy, RemedyAsked, by_facts

RUNS, BINDS, SETS = "clock.sync.run", "clock.employees.edit", "clock.devices.edit"


async def _start(asked: RemedyAsked) -> None:
    found = await connection.required(asked.db)
    if found.status == "locked":
        raise Conflict("The connection is locked after refused sign-ins. Save the right password in Settings first.")
    await run_rows.queue_run(asked.db, "manual", {}, asked.actor)


async def _unlock(asked: RemedyAsked) -> None:
    await connection.unlock(asked.db, asked.actor, datetime.now(UTC))


def _lock_is_over(facts: Facts, now: datetime) -> bool:
    until = facts.get("until")
    return until is None or datetime.fromisoformat(until) <= now


START = Remedy("Start a run", RUNS, _start)
UNLOCK = Remedy(
    "Unlock", "clock.settings", _unlock, asks="Allow one more try with the saved password?", ready=_lock_is_over
)


async def _decide_people(asked: RemedyAsked) -> None:
    """About the listing that was shown: another one meanwhile is asked about again."""
    for resource, facts in zip(asked.subject_ids, asked.facts, strict=True):
        waiting = next((one for one in await missing_rows.pending(asked.db) if one.resource == resource), None)
        if waiting is None or (waiting.pending or {}).get("run_id") != facts["run"]:
            raise Conflict(CHANGED)
        if asked.choice == "confirm":
            await missing_rows.confirm_disappearance(asked.db, asked.actor, resource, datetime.now(UTC))
        else:
            await missing_rows.refuse_disappearance(asked.db, asked.actor, resource)


async def _decide_punches(asked: RemedyAsked) -> None:
    waiting = await gone.undecided(asked.db)
    shown = asked.facts[0]
    if (
        waiting is None
        or (waiting.pending or {}).get("missing") != shown["missing"]
        or waiting.generation != shown["run"]
    ):
        raise Conflict(CHANGED)
    if asked.choice == "confirm":
        await gone.confirm(asked.db, asked.actor, waiting, datetime.now(UTC))
    else:
        await gone.refuse(asked.db, asked.actor, waiting)


async def _accept_days(asked: RemedyAsked) -> None:
    await shortfalls.accept(asked.db, asked.actor, asked.subject_ids, datetime.now(UTC))


_VERDICTS = (("refuse", "Keep them"), ("confirm", "They are gone"))
DECIDE_PEOPLE = Remedy(
    "Decide",
    RUNS,
    _decide_people,
    choices=_VERDICTS,
    asks="Are they really gone, or is the list of the server wrong?",
    about=by_facts("run", "missing"),
)
DECIDE_PUNCHES = Remedy(
    "Decide",
    RUNS,
    _decide_punches,
    choices=_VERDICTS,
    asks="Are these punches really gone from the server?",
    about=by_facts("run", "missing", "known", "first", "last"),
)
ACCEPT_DAYS = Remedy(
    "Accept as read",
    RUNS,
    _accept_days,
    many=True,
    asks="Accept these days as read, without the punches that are missing?",
    about=by_facts("came", "total"),
)


def _on_codes(*acts: str) -> Callable[[RemedyAsked], Awaitable[Collection[str]]]:
    async def do(asked: RemedyAsked) -> list[str]:
        act = chosen(asked, acts)
        which = select(ClockEmployee.id).where(among(ClockEmployee.emp_code, asked.subject_ids))
        people = (await asked.db.scalars(which)).all()
        if not people:
            raise Conflict(CHANGED)
        changed = await ON_CODES[act](asked, people)
        if not changed and act != "match_again":
            raise Conflict(CHANGED)
        return changed

    return do


_OTHERS = (("match_again", "Match again"), ("ignore", "Ignore the code"))
ACCEPT = Remedy("Accept", BINDS, _on_codes("accept"), many=True, about=by_facts("suggested"))
MATCH = Remedy("Match again", BINDS, _on_codes("match_again", "ignore"), choices=_OTHERS, many=True, unchanged=still)


def _not_found_ways(facts: Facts) -> tuple[tuple[str, str], ...]:
    """An ID number that somebody has, though they left, makes no second employee."""
    left = facts.get("left") or ()
    if not left:
        return (("add", "Add as employee"), *_OTHERS)
    binds = len(left) == 1 and not left[0]["deleted"]
    return ((("activate", f"Activate and bind {left[0]['name']}"),) if binds else ()) + _OTHERS


ADD = Remedy(
    "Add as employee",
    BINDS,
    _on_codes("add", "activate", "match_again", "ignore"),
    choices=(("add", "Add as employee"), *_OTHERS),
    many=True,
    also=("host.people",),
    ways=_not_found_ways,
    unchanged=still,
    about=leavers,
)
IGNORE = Remedy("Ignore the code", BINDS, _on_codes("ignore"), many=True, asks="Leave this code out on purpose?")


async def _set_direction(asked: RemedyAsked) -> None:
    for serial in asked.subject_ids:
        await devices.set_direction(asked.db, asked.actor, serial, asked.choice)


async def _undirect(asked: RemedyAsked) -> list[str]:
    """Leaves a terminal that somebody set meanwhile, or whose punches find partners now."""
    still = [serial for serial in asked.subject_ids if await one_key(asked.db, serial)]
    for serial in still:
        await devices.set_direction(asked.db, asked.actor, serial, "undirected")
    return still


async def _set_kind(asked: RemedyAsked) -> None:
    for serial in asked.subject_ids:
        await devices.set_kind(asked.db, asked.actor, serial, asked.choice)


DIRECT = Remedy(
    "Set the direction",
    SETS,
    _set_direction,
    choices=tuple((one, f"Read as {DIRECTIONS[one].lower()}") for one in ("undirected", "in", "out")),
    many=True,
    asks="How are the punches of this terminal to be read? Those without a record are judged again.",
)
UNDIRECT = Remedy(
    "Read as undirected",
    SETS,
    _undirect,
    many=True,
    asks="Its punches without a record are judged again, and may become attendance. Existing records stay as they are.",
)
SET_KIND = Remedy(
    "Say what it is",
    SETS,
    _set_kind,
    choices=(("access", "It is a door"), ("attendance", "It is a clock")),
    many=True,
    asks="Do punches of this terminal count for attendance?",
)
