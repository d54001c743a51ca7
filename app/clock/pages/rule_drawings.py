"""A small drawing beside each import rule: what it does with a few punches, at the value that holds. Pure.

Punches and records look as on the line of *Why?* (review/timeline.py).
Lengths are chosen to be readable; no drawing is to scale.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WIDTH = 240


@dataclass(frozen=True, slots=True)
class RulePunch:
    """A punch at `x`; `effect` is one of the words of the time line, `word` stands above it."""

    x: int
    effect: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class RuleBar:
    """A record from `x` on; an open one has no end yet."""

    x: int
    width: int
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class RuleSpan:
    """What the value is: a stretch below the line."""

    x: int
    until: int
    label: str

    @property
    def middle(self) -> int:
        return (self.x + self.until) // 2


@dataclass(frozen=True, slots=True)
class RuleDrawing:
    taps: tuple[RulePunch, ...] = ()
    bars: tuple[RuleBar, ...] = ()
    span: RuleSpan | None = None
    words: str = ""


def drawn(settings: Mapping[str, Any]) -> Mapping[str, RuleDrawing]:
    """Values and drawings by the name of the setting."""
    return {
        "repeat_tap_seconds": _second_punch(52, settings["repeat_tap_seconds"], "s"),
        "double_tap_fix": _fix(on=settings["double_tap_fix"]),
        "double_tap_minutes": _second_punch(
            80, settings["double_tap_minutes"] if settings["double_tap_fix"] else 0, "min"
        ),
        "shift_gap_hours": RuleDrawing(
            (RulePunch(16, "opens", "in"), RulePunch(88, "closes", "out"), RulePunch(216, "opens", "in")),
            (RuleBar(16, 72), RuleBar(216, WIDTH - 216, is_open=True)),
            RuleSpan(88, 192, f"{settings['shift_gap_hours']} h"),
        ),
        "undirected_min_minutes": RuleDrawing(
            (RulePunch(16, "opens", "in"), RulePunch(56, "inside"), RulePunch(216, "closes", "out")),
            (RuleBar(16, 200),),
            RuleSpan(16, 80, f"{settings['undirected_min_minutes']} min"),
        ),
        "undirected_max_hours": RuleDrawing(
            (RulePunch(16, "opens", "in"), RulePunch(208, "opens", "in")),
            (RuleBar(16, 48, is_open=True), RuleBar(208, WIDTH - 208, is_open=True)),
            RuleSpan(16, 176, f"{settings['undirected_max_hours']} h"),
        ),
        "default_direction": _direction(settings["default_direction"]),
        "import_single_punches": _single(on=settings["import_single_punches"]),
        "ignore_leading_zeros": RuleDrawing(words=f"00042 {'=' if settings['ignore_leading_zeros'] else '≠'} 42"),
    }


def _second_punch(until: int, value: int, unit: str) -> RuleDrawing:
    """A punch so soon after another: folded within the value, and at 0 a punch like any other."""
    second = RulePunch(until - 12, "folded" if value else "inside")
    label = f"{value} {unit}" if value else "never"
    return RuleDrawing(
        (RulePunch(16, "opens", "in"), second, RulePunch(216, "closes", "out")),
        (RuleBar(16, 200),),
        RuleSpan(16, until, label),
    )


def _fix(*, on: bool) -> RuleDrawing:
    taps = (
        RulePunch(16, "opens", "in"),
        RulePunch(68, "folded" if on else "orphan", "in"),
        RulePunch(216, "closes", "out"),
    )
    return RuleDrawing(taps, (RuleBar(16, 200),) if on else (RuleBar(68, 148),))


def _direction(word: str) -> RuleDrawing:
    match word:
        case "in":
            return RuleDrawing(tuple(RulePunch(x, "opens", "in") for x in (16, 116, 216)))
        case "out":
            return RuleDrawing(tuple(RulePunch(x, "closes", "out") for x in (16, 116, 216)))
        case "undirected":
            return RuleDrawing(
                (RulePunch(16, "opens", "first"), RulePunch(116, "inside"), RulePunch(216, "closes", "last")),
                (RuleBar(16, 200),),
            )
        case _:
            return RuleDrawing(
                (RulePunch(16, "opens", "code 0"), RulePunch(216, "closes", "code 1")), (RuleBar(16, 200),)
            )


def _single(*, on: bool) -> RuleDrawing:
    return RuleDrawing(
        (RulePunch(16, "opens" if on else "orphan", "in"),), (RuleBar(16, 200, is_open=True),) if on else ()
    )
