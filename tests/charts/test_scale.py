"""Ticks stand at round numbers, and values stand where they belong."""

import pytest

from app.charts.scale import PERCENT, Scale, place, scale_to, short


@pytest.mark.parametrize(
    ("peak", "step", "top"),
    [
        (0, 1, 1),
        (1, 1, 1),
        (3, 1, 3),
        (4, 1, 4),
        (5, 2, 6),
        (8, 2, 8),
        (9, 5, 10),
        (20, 5, 20),
        (21, 10, 30),
        (412, 200, 600),
        (1000, 500, 1000),
        (1204, 500, 1500),
        (99_999, 50_000, 100_000),
        (3_200_000, 1_000_000, 4_000_000),
    ],
)
def test_an_axis_ends_at_a_round_number_that_no_value_is_above(peak: int, step: int, top: int) -> None:
    assert scale_to(peak) == Scale(step, top)


def test_an_axis_has_two_to_five_ticks_of_one_two_or_five_times_a_power_of_ten() -> None:
    for peak in range(1, 5000):
        scale = scale_to(peak)
        assert 2 <= len(scale.ticks()) <= 5
        assert scale.top - scale.step < peak <= scale.top
        assert str(scale.step).rstrip("0") in {"1", "2", "5"}


def test_ticks_say_their_number_and_stand_at_their_place() -> None:
    ticks = scale_to(1204).ticks()
    assert [(one.label, one.x, one.y, one.anchor) for one in ticks] == [
        ("0", "0%", "100%", "start"),
        ("500", "33.33%", "66.67%", "middle"),
        ("1,000", "66.67%", "33.33%", "middle"),
        ("1,500", "100%", "0%", "end"),
    ]
    assert [one.label for one in PERCENT.ticks(" %")] == ["0 %", "25 %", "50 %", "75 %", "100 %"]


@pytest.mark.parametrize(("value", "share"), [(0, 0), (50, 25), (200, 100), (-3, 0), (999, 100)])
def test_a_value_stands_on_the_axis(value: float, share: float) -> None:
    assert Scale(50, 200).share(value) == share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (950, "950"), (1500, "1,500"), (9999, "9,999"), (10_000, "10k"), (12_500, "12.5k"), (500_000, "500k"),
        (1_000_000, "1M"), (2_500_000, "2.5M"), (20_000_000_000, "20G"),
    ],
)  # fmt: skip
def test_a_label_is_short(value: int, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(("share", "length"), [(0, "0%"), (100, "100%"), (100 / 3, "33.33%"), (12.5, "12.5%")])
def test_a_place_is_a_length(share: float, length: str) -> None:
    assert place(share) == length
