"""The worked cases of docs/rules.md: read from the page, and played on the small store."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from zoneinfo import ZoneInfo

from app.clock.pairing.inputs import PairingEmployee, Unbound
from tests.clock.mirror_store import FAR, Store, when

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"
HEADING = "## Worked cases"
COLUMNS = ["case", "steps", "records", "other outcomes", "remark"]
VALUES = {"true": True, "false": False}


@dataclass(frozen=True)
class WorkedCase:
    name: str
    steps: tuple[str, ...]
    records: tuple[str, ...]
    outcomes: dict[str, str]
    remark: str = ""

    @property
    def taps(self) -> str | None:
        """The taps of a case that is nothing but taps."""
        return self.steps[0] if len(self.steps) == 1 else None


def worked_cases(text: str | None = None) -> list[WorkedCase]:
    """The rows of the table. A row with a cell too many or too few raises ValueError."""
    table = (PAGE.read_text() if text is None else text).partition(HEADING)[2]
    rows = [
        [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    if rows[:1] != [COLUMNS]:
        raise ValueError(f"the table has other columns than {COLUMNS}")
    return [
        WorkedCase(name, parted(steps, ";"), parted(records), _outcomes(outcomes), remark)
        for name, steps, records, outcomes, remark in rows[2:]
    ]


def parted(text: str, mark: str = ",") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark) if part.strip())


def _outcomes(text: str) -> dict[str, str]:
    """`I 08:00 awaiting until Tue 08:00` is one tap and what follows its time."""
    found = [re.fullmatch(r"(\w+ (?:\S+ )?[\d:]+) ([a-z]\S+(?: until .+)?)", part) for part in parted(text)]
    return {one[1]: one[2] for one in found if one} if all(found) else {text: "is no outcome of a tap"}


def played(case: WorkedCase) -> Store:
    """The store after all steps; each step that changes something is followed by a judging."""
    store = Store()
    moment = next((step.removeprefix("now ") for step in case.steps if step.startswith("now ")), FAR)
    for step in case.steps:
        if not step.startswith("now "):
            _play(store, step)
        if store.texts:
            store.judge(moment)
    return store


def difference(case: WorkedCase) -> str | None:
    """What the product makes of the case otherwise than the page says; None when they agree."""
    try:
        store = played(case)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        return f"the steps can't be played: {error!r}"
    records = tuple(_shown_as(store, shown, said) for shown, said in zip_longest(store.shown(), case.records))
    outcomes = {text: said for text in store.texts if (said := _outcome(store, text)) != "imported"}
    if records != case.records:
        return f"records {records}"
    return None if outcomes == case.outcomes else f"outcomes {outcomes}"


def _shown_as(store: Store, shown: str | None, said: str | None) -> str | None:
    """With its length where the page gives one."""
    if shown is None or said is None or " = " not in said:
        return shown
    (record,) = (one for one in store.records.values() if not one.deleted)
    return f"{shown} = {(record.clock_out - record.clock_in).total_seconds() / 3600:g} h"


def _outcome(store: Store, text: str) -> str:
    """With the moment at which it is judged again by itself."""
    until = store.judge_at[store.texts[text]]
    word = store.outcome(text)
    return word if until is None else f"{word} until {until.astimezone(store.zone):%a %H:%M}"


def _play(store: Store, step: str) -> None:
    """One of STEPS, else a list of punches."""
    for pattern, act in STEPS.items():
        if found := re.fullmatch(pattern, step):
            act(store, *found.groups())
            return
    store.add(step.removeprefix("then "))


def _set(store: Store, name: str, value: str) -> None:
    if name == "zone":
        store.zone = ZoneInfo(value)
        store.rules = replace(store.rules, zone=store.zone)
    else:
        store.rules = replace(store.rules, **{name: VALUES[value] if value in VALUES else int(value)})


def _lock(store: Store, day: str) -> None:
    store.locked = {when(f"{day} 00:00").date()}


def _owned_by(who: PairingEmployee | Unbound) -> Callable[[Store], None]:
    return lambda store: setattr(store, "who", who)


STEPS: dict[str, Callable[..., object]] = {
    r"(\w+)=(\S+)": _set,
    r"by hand (\S+)-(\S+)": Store.add_manual,
    r"edit (\d) to end (\S+)": lambda store, number, end: store.edit_record(int(number), clock_out=when(end)),
    r"server edits (.+) to (.+)": Store.edit_tap,
    r"server deletes (.+)": lambda store, tap: store.mark(tap, gone=True),
    r"lock (\w+)": _lock,
    r"approve (\d)": lambda store, number: store.decide(int(number)),
    r"delete (\d)": lambda store, number: store.delete(int(number)),
    r"retry (.+)": Store.retry,
    r"bind to another employee": _owned_by(PairingEmployee(2)),
    r"clear the binding": _owned_by(Unbound()),
    r"deactivate": _owned_by(PairingEmployee(1, active=False)),
}
