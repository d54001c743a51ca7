"""Which terminals send one key only, so that their punches find no partner (docs/rules.md, "One key only"). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.clock.days import TOLD_DAYS

# Fewer are a first day, or some people who forgot.
LEAST_SINGLE = 20
# Of a hundred punches, so many have the one code. People press another key now and then.
LEAST_OF_ONE_CODE = 95
# Of a hundred punches that found a record or no partner, so many found no partner. Where a gate for coming stands
# beside one for leaving, each sends one code, and pairs form.
LEAST_ALONE = 80
# Punches of ten people on a day. People who punch once a day have no second punch to pair with, whatever the direction.
LEAST_OF_TEN = 15
# What helps, as a sentence.
PAIRS = "Read as undirected, they pair: the first of a shift is the clock-in, the last is the clock-out."


@dataclass(frozen=True, slots=True)
class KeyUse:
    """How a terminal was used for some weeks. `codes`: its punches with the codes 0 to 5. `person_days`: the people of
    each day, summed. `recorded`: punches that have a record. `single`: those that show *Only one punch* and are not
    settled."""

    kind: str
    direction: str
    punches: int
    codes: tuple[int, ...]
    person_days: int
    recorded: int
    single: int


def without_partner(single: int) -> str:
    """How many punches found no partner, and of which days they are: older ones are read as undirected, too."""
    return f"{single:,} of its punches of the last {TOLD_DAYS} days have no partner"


def use_of(uses: Mapping[str, Any]) -> KeyUse:
    """From the counts as SQL gives them, in a json object."""
    return KeyUse(**{**uses, "codes": tuple(uses["codes"])})


def only_key(use: KeyUse) -> int | None:
    """The punch code that a terminal sends for everything. None where reading it as undirected would not help, or where
    the numbers do not say that it would."""
    code = max(range(len(use.codes)), key=use.codes.__getitem__)
    sends_one = (
        use.kind == "attendance"
        and use.direction == "by_code"
        and use.single >= LEAST_SINGLE
        and use.codes[code] * 100 >= use.punches * LEAST_OF_ONE_CODE
        and use.single * 100 >= (use.single + use.recorded) * LEAST_ALONE
        and use.punches * 10 >= use.person_days * LEAST_OF_TEN
    )
    return code if sends_one else None
