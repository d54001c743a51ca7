"""The worked cases of docs/rules.md: read from the page, and played on the small store."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from app.clock.pairing.inputs import PairingEmployee
from tests.clock.mirror_store import FAR, Store, when

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


@dataclass(frozen=True)
class WorkedCase:
    name: str
    steps: tuple[str, ...]
    records: tuple[str, ...]
    words: dict[str, str]

    @property
    def taps(self) -> str | None:
        """The taps of a case that is nothing but taps."""
        return self.steps[0] if len(self.steps) == 1 else None


def worked_cases() -> list[WorkedCase]:
    table = PAGE.read_text().partition("## Worked cases")[2]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    return [
        WorkedCase(name, parted(steps, ";"), parted(records), _words(words)) for name, steps, records, words in rows[2:]
    ]


def parted(text: str, mark: str = ",") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark) if part.strip())


def _words(text: str) -> dict[str, str]:
    return {tap: word for tap, _, word in (part.rpartition(" ") for part in parted(text))}


def played(case: WorkedCase) -> Store:
    """The store after all steps; each step that changes something is followed by a judging."""
    store = Store()
    moment = next((step.removeprefix("now ") for step in case.steps if step.startswith("now ")), FAR)
    for step in case.steps:
        if not step.startswith("now "):
            _play(store, step)
        if not _prepares(step):
            store.judge(moment)
    return store


def _prepares(step: str) -> bool:
    """True for what is there before the first tap."""
    return "=" in step or step.startswith(("by hand ", "lock "))


def _play(store: Store, step: str) -> None:
    if "=" in step:
        name, _, value = step.partition("=")
        store.rules = replace(store.rules, **{name: {"true": True, "false": False}[value]})
    elif hours := re.fullmatch(r"by hand (\S+)-(\S+)", step):
        store.add_manual(*hours.groups())
    elif end := re.fullmatch(r"edit 1 to end (\S+)", step):
        store.edit_record(1, clock_out=when(end[1]))
    elif step.startswith("lock "):
        store.locked = {when(f"{step.removeprefix('lock ')} 00:00").date()}
    elif step == "approve 1":
        store.decide(1)
    elif step == "delete 1":
        store.delete(1)
    elif step.startswith("retry "):
        store.retry(step.removeprefix("retry "))
    elif step == "bind to another employee":
        store.who = PairingEmployee(2)
    else:
        store.add(step.removeprefix("then "))
