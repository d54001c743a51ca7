"""Which terminals send one key only: a table of cases, and the numbers of the page that says the rule."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.clock.mirror import one_key
from app.clock.mirror.one_key import KeyUse, only_key

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"
IN, OUT = 0, 1
# Thirty people come and go for a week, and the terminal says Check In of all of it.
HALL = KeyUse("attendance", "by_code", 300, (300, 0, 0, 0, 0, 0), 150, recorded=0, single=300)

# A terminal at each of the limits below which its problem closes.
AT_LEAST = {
    "punches": 40,
    "codes": (36, 4, 0, 0, 0, 0),
    "person_days": 33,
    "recorded": 6,
    "single": 10,
}
# What is different from HALL; the code that it sends, or None; why.
CASES: list[tuple[dict[str, Any], int | None, str]] = [
    ({}, IN, "every punch says Check In"),
    ({"codes": (0, 300, 0, 0, 0, 0)}, OUT, "every punch says Check Out"),
    ({"codes": (285, 15, 0, 0, 0, 0)}, IN, "some press another key"),
    ({"codes": (284, 16, 0, 0, 0, 0)}, None, "its keys are used"),
    ({"codes": (0, 0, 0, 0, 0, 0)}, None, "its code is none of 0 to 5: that is No direction"),
    ({"single": 20, "punches": 30, "codes": (30, 0, 0, 0, 0, 0), "person_days": 15}, IN, "enough of them"),
    ({"single": 19, "punches": 30, "codes": (30, 0, 0, 0, 0, 0), "person_days": 15}, None, "a first day"),
    ({"single": 0}, None, "all of them are settled, or judged otherwise"),
    ({"single": 240, "recorded": 60}, IN, "some leave at a terminal that has keys"),
    ({"single": 239, "recorded": 61}, None, "many find their partner at another terminal"),
    ({"single": 30, "recorded": 270}, None, "a gate for coming beside one for leaving, where some forget"),
    ({"person_days": 200}, IN, "three punches of two people a day"),
    ({"person_days": 201}, None, "most people punch once a day: they would have no second punch"),
    ({"person_days": 300}, None, "people clock in there, and never out"),
    ({"direction": "in"}, None, "a person said that it is for coming"),
    ({"direction": "undirected"}, None, "it is read as undirected already"),
    ({"kind": "access"}, None, "a door reader"),
    ({**AT_LEAST, "is_named": True}, IN, "a problem stays at the lower limits"),
    (AT_LEAST, None, "a problem does not open at the lower limits"),
    ({**AT_LEAST, "is_named": True, "single": 9, "recorded": 6}, None, "fewer than stay"),
    ({**AT_LEAST, "is_named": True, "codes": (35, 5, 0, 0, 0, 0)}, None, "its keys are used now"),
    ({**AT_LEAST, "is_named": True, "recorded": 7}, None, "its punches find partners now"),
    ({**AT_LEAST, "is_named": True, "person_days": 34}, None, "most people punch once a day now"),
]  # fmt: skip


@pytest.mark.parametrize(("differs", "code", "why"), CASES, ids=[why for *_, why in CASES])
def test_a_terminal_sends_one_key_only_or_not(differs: dict[str, Any], code: int | None, why: str) -> None:
    assert only_key(replace(HALL, **differs)) == code, why


def test_the_page_says_the_limits_of_the_rule() -> None:
    told = PAGE.read_text().partition("### One key only")[2].partition("\n## ")[0]
    assert f"{one_key.OPENS.single} or more" in told
    assert f"{one_key.STAYS.single} punches without" in told
    for limits in (one_key.OPENS, one_key.STAYS):
        assert f"{limits.of_one_code} of 100" in told
        assert f"{limits.alone} of 100" in told
        assert f"{limits.of_ten} punches of 10 people" in told
