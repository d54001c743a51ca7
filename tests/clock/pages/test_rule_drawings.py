"""The drawings of the import rules: each rule has one, inside its frame, and it says the value that holds."""

from datetime import date

import pytest

from app.clock.pages.rule_drawings import WIDTH, RuleDrawing, drawn
from app.clock.pages.setting_fields import SECTIONS, shown
from app.clock.settings import ClockSettings


def of(name: str, **values: object) -> RuleDrawing:
    return drawn({**shown(ClockSettings(date(2026, 1, 1))), **values})[name]


def effects(one: RuleDrawing) -> list[str]:
    return [tap.effect for tap in one.taps]


def test_each_import_rule_has_a_drawing_and_nothing_else() -> None:
    assert set(drawn(shown(ClockSettings(date(2026, 1, 1))))) == {one.name for one in SECTIONS["rules"].fields}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("repeat_tap_seconds", 10, "10 s"),
        ("repeat_tap_seconds", 0, "never"),
        ("double_tap_minutes", 5, "5 min"),
        ("shift_gap_hours", 8, "8 h"),
        ("undirected_min_minutes", 30, "30 min"),
        ("undirected_max_hours", 14, "14 h"),
    ],
)
def test_a_drawing_says_the_value(name: str, value: int, said: str) -> None:
    span = of(name, **{name: value}).span
    assert span is not None
    assert span.label == said


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("repeat_tap_seconds", 10, ["opens", "folded", "closes"]),
        ("repeat_tap_seconds", 0, ["opens", "inside", "closes"]),
        ("double_tap_fix", True, ["opens", "folded", "closes"]),
        ("double_tap_fix", False, ["opens", "orphan", "closes"]),
        ("import_single_punches", True, ["opens"]),
        ("import_single_punches", False, ["orphan"]),
        ("default_direction", "in", ["opens", "opens", "opens"]),
        ("default_direction", "out", ["closes", "closes", "closes"]),
        ("default_direction", "undirected", ["opens", "inside", "closes"]),
        ("default_direction", "by_code", ["opens", "closes"]),
    ],
)
def test_a_drawing_shows_what_the_rule_does(name: str, value: object, what: list[str]) -> None:
    assert effects(of(name, **{name: value})) == what


def test_double_taps_are_never_folded_while_the_fix_is_off() -> None:
    span = of("double_tap_minutes", double_tap_fix=False).span
    assert span is not None
    assert span.label == "never"


def test_the_zeros_are_equal_or_not() -> None:
    assert of("ignore_leading_zeros", ignore_leading_zeros=True).words == "00042 = 42"
    assert of("ignore_leading_zeros", ignore_leading_zeros=False).words == "00042 ≠ 42"


def test_no_drawing_leaves_its_frame() -> None:
    for one in drawn(shown(ClockSettings(date(2026, 1, 1)))).values():
        assert all(0 <= tap.x <= WIDTH for tap in one.taps)
        assert all(0 <= bar.x < bar.x + bar.width <= WIDTH for bar in one.bars)
        assert one.span is None or 0 <= one.span.x < one.span.until <= WIDTH
