"""The hours of one record: what may be kept, how it is told, how much was worked."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.host import zone
from app.host.attendance.hours import Hours, in_order, problems
from tests.host.staff import at, hours

START = datetime(2026, 11, 20, tzinfo=UTC)
instants = st.integers(0, 240).map(lambda minutes: START + timedelta(minutes=minutes))


@st.composite
def spans(draw: st.DrawFn) -> Hours:
    start = draw(instants)
    length = draw(st.one_of(st.none(), st.integers(1, 120)))
    return Hours(
        start,
        start + timedelta(minutes=length) if length else None,
        kind=draw(st.sampled_from(["regular", "overtime"])),
    )


@given(spans())
@settings(max_examples=50, deadline=None)
def test_hours_survive_being_told(one: Hours) -> None:
    assert Hours.heard(one.told()) == one


def test_worked_time_leaves_out_the_breaks() -> None:
    day = hours("08:00", "17:00", ("12:00", "13:00"), ("15:00", "15:15"))
    assert (day.worked, day.paused) == (timedelta(hours=7, minutes=45), timedelta(hours=1, minutes=15))
    assert hours("08:00").worked is None


@pytest.mark.parametrize(
    ("given_hours", "field"),
    [
        (hours("08:00", "08:00"), "clock_out"),
        (hours("08:00", "07:00"), "clock_out"),
        (hours("08:00", "09:00 2026-11-28"), "clock_out"),
        (hours("08:00 1990-01-01"), "clock_in"),
        (hours("08:00", kind="night"), "kind"),
        (hours("08:00", "17:00", ("12:00", "12:00")), "break_1"),
        (hours("08:00", "17:00", ("07:00", "08:30")), "break_1"),
        (hours("08:00", "17:00", ("12:00", "13:00"), ("16:30", "17:01")), "break_2"),
        (hours("08:00", "17:00", ("12:00", "13:00"), ("12:30", "12:40")), "break_2"),
        (hours("08:00", None, ("07:00", "09:00")), "break_1"),
        (hours("08:00", "17:00", *[("12:00", "13:00")] * 21), "breaks"),
    ],
)
def test_impossible_hours_are_refused_at_their_field(given_hours: Hours, field: str) -> None:
    assert [one.field for one in problems(given_hours)] == [field]


@pytest.mark.parametrize(
    "given_hours",
    [
        hours("08:00"),
        hours("22:00", "06:00 2026-11-21"),
        hours("08:00", "17:00", ("08:00", "17:00")),
        hours("08:00", "17:00", ("13:00", "14:00"), ("12:00", "13:00")),
        hours("08:00", None, ("12:00", "13:00")),
    ],
)
def test_unusual_but_possible_hours_are_kept(given_hours: Hours) -> None:
    assert problems(given_hours) == []


def test_breaks_are_put_in_order() -> None:
    mixed = hours("08:00", "17:00", ("13:00", "14:00"), ("09:00", "10:00"))
    assert in_order(mixed).breaks == ((at("09:00"), at("10:00")), (at("13:00"), at("14:00")))


def test_the_workday_is_the_local_date_of_the_clock_in() -> None:
    assert str(hours("02:00", "09:00").workday(ZoneInfo("America/Vancouver"))) == "2026-11-19"


def test_a_repeated_hour_is_the_first_and_a_missing_one_takes_the_offset_before_the_gap() -> None:
    vancouver = ZoneInfo("America/Vancouver")
    assert zone.to_utc(datetime(2013, 11, 3, 1, 30), vancouver) == datetime(2013, 11, 3, 8, 30, tzinfo=UTC)
    assert zone.to_utc(datetime(2013, 3, 10, 2, 30), vancouver) == datetime(2013, 3, 10, 10, 30, tzinfo=UTC)
