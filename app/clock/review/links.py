"""Where the one thing is done that would change a punch's outcome: links, by the rule that decided.
No sentence lives here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from app.clock.importing.facts import Surroundings
from app.clock.pairing.inputs import PairingEmployee
from app.clock.pairing.verdicts import Reason, Rule


@dataclass(frozen=True, slots=True)
class ReviewLink:
    """`permission` is what a person needs to open it."""

    label: str
    url: str
    permission: str


def links(seen: Surroundings, because: Reason | None) -> Sequence[ReviewLink]:
    """`because` None: the punch waits for days that were not read completely."""
    if because is None:
        return [ReviewLink("Open the Sync Center", "/clock_sync", "clock.sync.view")]
    return _PLACES.get(because.rule, _records)(seen, because)


def _terminal(seen: Surroundings, _: Reason) -> list[ReviewLink]:
    return [
        ReviewLink("Open the terminal", f"/clock_devices?serial={quote(seen.punch.terminal_sn or '')}", "clock.devices")
    ]


def _binding(seen: Surroundings, _: Reason) -> list[ReviewLink]:
    return [ReviewLink("Open the binding", f"/clock_employees?code={quote(seen.punch.emp_code)}", "clock.employees")]


def _person(seen: Surroundings, because: Reason) -> list[ReviewLink]:
    binding = _binding(seen, because)
    if not isinstance(seen.who, PairingEmployee):
        return binding
    return [ReviewLink("Open the person", f"/people/{seen.who.id}", "host.people"), *binding]


def _lock(_: Surroundings, because: Reason) -> list[ReviewLink]:
    day = because.workday
    return [ReviewLink("Open the day's lock", f"/attendance/locks?from={day}&to={day}", "host.locks")]


def _rules(seen: Surroundings, because: Reason) -> list[ReviewLink]:
    return [*_records(seen, because), ReviewLink("Open the import rules", "/clock_settings#rules", "clock.settings")]


def _records(_: Surroundings, because: Reason) -> list[ReviewLink]:
    return [
        ReviewLink(f"Open record {one.id}", f"/attendance/{one.id}", "host.attendance")
        for one in because.records
        if one.id > 0 and not one.deleted
    ]


def _by_hand(seen: Surroundings, because: Reason) -> list[ReviewLink]:
    if not isinstance(seen.who, PairingEmployee) or because.shift is None:
        return []
    day = because.shift.first.at.astimezone(seen.case.rules.zone).date()
    url = f"/attendance/add?employee=%23{seen.who.id}&day={day}"
    return [ReviewLink("Add a record by hand", url, "host.attendance.decide")]


_PLACES: dict[Rule, Callable[[Surroundings, Reason], list[ReviewLink]]] = {
    Rule.FUTURE_TIMESTAMP: _terminal,
    Rule.ACCESS_TERMINAL: _terminal,
    Rule.ACCESS_PUNCH: _terminal,
    Rule.NO_DIRECTION: _terminal,
    Rule.NOT_BOUND: _binding,
    Rule.EMPLOYEE_INACTIVE: _person,
    Rule.DATE_LOCKED: _lock,
    Rule.FOLDED: _rules,
    Rule.ONLY_ONE_PUNCH: _by_hand,
    Rule.OVER_24H: _by_hand,
}
