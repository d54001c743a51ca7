"""Which terminals send one key only, so that their punches find no partner (docs/rules.md, "One key only"). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.clock.days import TOLD_DAYS


class KeyLimits(NamedTuple):
    """The least numbers of a terminal that sends one key only.

    `single`: punches without a partner. Fewer are a first day, or some people who forgot.
    `of_one_code`: of a hundred punches, those with the one code. People press another key now and then.
    `alone`: of a hundred punches that found a record or no partner, those without a partner. Where a gate for coming
    stands beside one for leaving, each sends one code, and pairs form.
    `of_ten`: punches of ten people on a day. People who punch once a day have no second punch to pair with, whatever
    the direction.
    """

    single: int
    of_one_code: int
    alone: int
    of_ten: int


OPENS = KeyLimits(single=20, of_one_code=95, alone=80, of_ten=15)
# For a terminal whose problem is open, or was dismissed. Lower, so that a few punches more or less do not close the
# problem and open it again.
STAYS = KeyLimits(single=10, of_one_code=90, alone=60, of_ten=12)
# What helps, as a sentence.
PAIRS = "Read as undirected, they pair: the first of a shift is the clock-in, the last is the clock-out."


@dataclass(frozen=True, slots=True)
class KeyUse:
    """How a terminal was used for some weeks. `codes`: its punches with the codes 0 to 5. `person_days`: the people of
    each day, summed. `recorded`: punches that have a record. `single`: those that show *Only one punch* and are not
    settled. `is_named`: a problem that is open, or was dismissed, says so of it already."""

    kind: str
    direction: str
    punches: int
    codes: tuple[int, ...]
    person_days: int
    recorded: int
    single: int
    is_named: bool = False


def without_partner(single: int) -> str:
    """How many punches found no partner, and of which days they are: older ones are read as undirected, too."""
    return f"{single:,} of its punches of the last {TOLD_DAYS} days have no partner"


def use_of(uses: Mapping[str, Any]) -> KeyUse:
    """From the counts as SQL gives them, in a json object."""
    return KeyUse(**{**uses, "codes": tuple(uses["codes"])})


def only_key(use: KeyUse) -> int | None:
    """The punch code that a terminal sends for everything. None where reading it as undirected would not help, or where
    the numbers do not say that it would."""
    least = STAYS if use.is_named else OPENS
    code = max(range(len(use.codes)), key=use.codes.__getitem__)
    sends_one = (
        use.kind == "attendance"
        and use.direction == "by_code"
        and use.single >= least.single
        and use.codes[code] * 100 >= use.punches * least.of_one_code
        and use.single * 100 >= (use.single + use.recorded) * least.alone
        and use.punches * 10 >= use.person_days * least.of_ten
    )
    return code if sends_one else None
