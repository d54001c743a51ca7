"""The one thing that changes what became of a punch, as a button that names its effect. Reads only; what a fix does is
done by the verb of its room.

A fix either leads somewhere (a drawer, a form that is filled in), or is done at once. What it says is what a person
agrees to: with other numbers it is another fix. Which place each rule leads to besides: review/links.py.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.clock.bindings import actions as bindings
from app.clock.bindings import queries as binding_queries
from app.clock.bindings import rows as binding_rows
from app.clock.codes import BindingState, punch_label
from app.clock.importing import facts
from app.clock.importing.facts import Surroundings
from app.clock.mirror import devices
from app.clock.mirror.key_uses import one_key
from app.clock.mirror.one_key import PAIRS, without_partner
from app.clock.models import Binding, Device
from app.clock.pairing.inputs import PairingEmployee, Unbound
from app.clock.pairing.shifts import Shift
from app.clock.pairing.verdicts import Reason, Rule
from app.clock.review.missing_end import missing_end
from app.counting import count
from app.dates import day_words
from app.errors import Conflict

UNDIRECTED = "Read as undirected"
CHANGED = "What this would do has changed meanwhile. Look at the punch again."
BINDS, SETS_TERMINALS = "clock.employees.edit", "clock.devices.edit"


@dataclass(frozen=True, slots=True)
class Fix:
    """`permission` is what a person needs for it. `act` is "accept" or "terminal" for what changes something, empty for
    a fix that only leads to `url`. `punches`: how many are judged again. An act with a `url` asks there first.
    `opens`: what the url is, a drawer or a dialog. `host_employee_id` is the employee whom "accept" names.
    `cause` says in a sentence what is wrong with more than this punch."""

    label: str
    permission: str
    url: str = ""
    act: str = ""
    opens: str = "drawer"
    host_employee_id: int | None = field(default=None, compare=False)
    punches: str = field(default="", compare=False)
    cause: str = field(default="", compare=False)

    def leads_to(self, address: str) -> bool:
        """True when it leads to the page of that address, or to one row of it:
        then a link there would be the same once more."""
        return f"{urlsplit(self.url).path}/".startswith(f"{urlsplit(address).path}/")


async def fixes(db: AsyncSession, seen: Surroundings, because: Reason | None) -> list[Fix]:
    """The one that leads comes first: it mends what is wrong with many punches, and the next one only this punch. None
    when time alone changes the outcome, when an act of *Why?* itself does, or when nothing has to change."""
    found = _FIXES.get(because.rule) if because is not None else None
    if found is None or because is None:
        return []
    both = await _of_one_key(db, seen, because), await found(db, seen, because)
    return [one for one in both if one is not None]


async def accept(
    db: AsyncSession, actor: Actor, punch_id: int, agreed: str, host_employee_id: int | None = None
) -> str:
    """Confirms the suggestion for the code of the punch. Says what became of it. Raises NotFound, and Conflict where
    the button would say something else by now, or would mean another employee of the same name."""
    await binding_rows.hold(db)
    seen, _ = await _agreed(db, punch_id, agreed, "accept", host_employee_id)
    found = await _binding(db, seen.punch.emp_code)
    accepting = await bindings.accept(db, actor, [found.clock_employee_id] if found else [])
    if not accepting.taken:
        raise Conflict(CHANGED)
    return f"{seen.punch.emp_code} was bound. Its punches are judged by the next import."


async def set_terminal(db: AsyncSession, actor: Actor, punch_id: int, agreed: str) -> str:
    """Sets the direction or the kind of the punch's terminal. As `accept`."""
    seen, rule = await _agreed(db, punch_id, agreed, "terminal")
    verb, value = _TERMINAL_VERBS[rule]
    changed = await verb(db, actor, seen.punch.terminal_sn or "", value)
    return f"The terminal was set. To be judged again by the next import: {devices.punches(changed.judged_again)}."


async def _agreed(
    db: AsyncSession, punch_id: int, agreed: str, act: str, host_employee_id: int | None = None
) -> tuple[Surroundings, Rule]:
    seen = await facts.around(db, punch_id, datetime.now(UTC))
    verdict = facts.verdict_on(punch_id, seen.judged())
    offered = await fixes(db, seen, verdict.because if verdict is not None else None)
    found = next((one for one in offered if (one.act, one.label) == (act, agreed)), None)
    if verdict is None or found is None:
        raise Conflict(CHANGED)
    if host_employee_id not in (None, found.host_employee_id):
        raise Conflict(CHANGED)
    return seen, verdict.because.rule


_TERMINAL_VERBS: dict[Rule, tuple[Callable[[AsyncSession, Actor, str, str | None], Awaitable[Any]], str]] = {
    Rule.NO_DIRECTION: (devices.set_direction, "undirected"),
    Rule.ONLY_ONE_PUNCH: (devices.set_direction, "undirected"),
    Rule.ACCESS_TERMINAL: (devices.set_kind, "attendance"),
    Rule.ACCESS_PUNCH: (devices.set_kind, "attendance"),
}


async def _of_binding(db: AsyncSession, seen: Surroundings, _: Reason) -> Fix | None:
    code = seen.punch.emp_code
    found = await _binding(db, code)
    if found is None or not isinstance(seen.who, Unbound):
        return None
    punches = count(await binding_queries.waiting(db, [code]), "punch", "punches")
    if found.state == BindingState.SUGGESTED and len(found.candidates) == 1:
        accepting = await bindings.foretell_accepting(db, [found.clock_employee_id])
        if accepting.taken:
            name, who = found.candidates[0]["name"], found.candidates[0]["host_employee_id"]
            return Fix(f"Accept {name}: {punches}", BINDS, act="accept", host_employee_id=who)
    verb = "Stop ignoring code" if found.state == BindingState.IGNORED else "Bind code"
    return Fix(f"{verb} {code}: {punches}", BINDS, f"/clock_employees/{found.clock_employee_id}")


async def _binding(db: AsyncSession, code: str) -> Row[Any] | None:
    wanted = select(Binding.clock_employee_id, Binding.state, Binding.candidates).where(Binding.emp_code == code)
    return (await db.execute(wanted)).one_or_none()


async def _of_direction(db: AsyncSession, seen: Surroundings, _: Reason) -> Fix | None:
    return await _of_terminal(db, seen, UNDIRECTED, direction="undirected")


async def _of_one_key(db: AsyncSession, seen: Surroundings, because: Reason) -> Fix | None:
    """What helps all punches of a terminal that sends one key only, not just this one."""
    serial = seen.punch.terminal_sn
    if because.rule is not Rule.ONLY_ONE_PUNCH or serial is None:
        return None
    found = await one_key(db, serial)
    undirected = await _of_terminal(db, seen, UNDIRECTED, direction="undirected") if found else None
    if found is None or undirected is None:
        return None
    sends = f"Terminal {found.name} sends “{punch_label(found.code)}” for coming and going"
    cause = f"{sends}: {without_partner(found.single)}. {PAIRS}"
    return replace(undirected, url=f"/clock_transactions/{seen.punch_id}/terminal", opens="dialog", cause=cause)


async def _of_door(db: AsyncSession, seen: Surroundings, _: Reason) -> Fix | None:
    return await _of_terminal(db, seen, "Mark this terminal as attendance", kind="attendance")


async def _of_terminal(db: AsyncSession, seen: Surroundings, label: str, **change: str | None) -> Fix | None:
    """None when the server named no terminal, or one that it does not list."""
    serial = seen.punch.terminal_sn
    if serial is None or await db.scalar(select(Device.id).where(Device.sn == serial)) is None:
        return None
    punches = devices.punches(await devices.judged_again(db, [serial], **change))
    return Fix(f"{label}: {punches}", SETS_TERMINALS, act="terminal", punches=punches)


async def _of_person(_: AsyncSession, seen: Surroundings, __: Reason) -> Fix | None:
    if not isinstance(seen.who, PairingEmployee):
        return None
    return Fix("Open the person, to activate", "host.people", f"/people/{seen.who.id}")


async def _of_missing(_: AsyncSession, seen: Surroundings, because: Reason) -> Fix | None:
    """The form of a record by hand, with what the shift has, and the missing end where the day's punches tell it.

    Over 24 hours, the clock-out is probably of another day: the form gets the clock-in alone. Once a person added hours
    in the shift, only settling is left.
    """
    shift = because.shift
    if not isinstance(seen.who, PairingEmployee) or shift is None:
        return None
    if because.rule is Rule.OVER_24H and _has_hours_by_hand(seen, shift):
        return None
    lacks = "the clock-in" if shift.is_orphan else "a record by hand" if shift.clock_out else "the clock-out"
    return Fix(f"Add {lacks}", "host.attendance.decide", f"/attendance/add?{_filled_in(seen, seen.who.id, shift)}")


def _has_hours_by_hand(seen: Surroundings, shift: Shift) -> bool:
    """True when a record made by hand lies in the shift, or over one of its ends."""
    start, end = shift.first.at, shift.last_at
    return any(
        one.source == "manual" and not one.deleted and one.clock_in <= end and (one.clock_out or one.clock_in) >= start
        for one in seen.records
        if isinstance(seen.who, PairingEmployee) and one.employee_id == seen.who.id and one.kind == shift.kind
    )


def _filled_in(seen: Surroundings, employee_id: int, shift: Shift) -> str:
    """Times with their offset, which tells the second of two equal hours in autumn from the first."""
    records = [one for one in seen.records if one.employee_id == employee_id and not one.deleted]
    zone = seen.case.rules.zone
    lacks_one = shift.is_orphan or not shift.clock_out
    other = missing_end(shift, seen.case.punches, records, zone) if lacks_one else None
    known: list[tuple[str, datetime | None]] = [
        ("clock_in", other if shift.is_orphan else shift.first.at),
        ("clock_out", shift.first.at if shift.is_orphan else other),
    ]
    breaks = () if shift.clock_out and not shift.is_orphan else shift.written_breaks()
    for at, (out, back) in enumerate(breaks, 1):
        known += [(f"break_{at}_out", out), (f"break_{at}_back", back)]
    times = {name: at.astimezone(zone).isoformat() for name, at in known if at is not None}
    return urlencode({"employee": f"#{employee_id}", "stay": "1", "both": "1", **times})


async def _of_lock(_: AsyncSession, seen: Surroundings, because: Reason) -> Fix | None:
    day = because.workday
    if day is None:
        return None
    asks = f"/attendance/locks/unlock?from={day}&to={day}"
    return Fix(f"Unlock {day_words(day, _today(seen))}", "host.locks", asks, opens="dialog")


async def _of_record(_: AsyncSession, seen: Surroundings, because: Reason) -> Fix | None:
    standing = next((one for one in because.records if one.id > 0 and not one.deleted), None)
    if standing is None:
        return None
    if because.rule is Rule.RECORD_DECIDED:
        asks = f"/attendance/{standing.id}/set_back"
        return Fix(f"Set record {standing.id} back to pending", "host.attendance.decide", asks, opens="dialog")
    to = _RECORD_CHANGES[because.rule]
    return Fix(f"Open record {standing.id}, to {to}", "host.attendance", f"/attendance/{standing.id}")


_RECORD_CHANGES = {
    Rule.RECORD_EDITED: "set its times back",
    Rule.OVERLAPS: "change or delete it",
}


def _today(seen: Surroundings) -> date:
    return seen.case.now.astimezone(seen.case.rules.zone).date()


_FIXES: dict[Rule, Callable[[AsyncSession, Surroundings, Reason], Awaitable[Fix | None]]] = {
    Rule.NOT_BOUND: _of_binding,
    Rule.NO_DIRECTION: _of_direction,
    Rule.ACCESS_TERMINAL: _of_door,
    Rule.ACCESS_PUNCH: _of_door,
    Rule.EMPLOYEE_INACTIVE: _of_person,
    Rule.ONLY_ONE_PUNCH: _of_missing,
    Rule.OVER_24H: _of_missing,
    Rule.DATE_LOCKED: _of_lock,
    Rule.RECORD_DECIDED: _of_record,
    Rule.RECORD_EDITED: _of_record,
    Rule.OVERLAPS: _of_record,
}
