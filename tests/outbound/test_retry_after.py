"""Retry-After: seconds, all three date forms, garbage and the past."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.outbound import retry_after_s

NOW = datetime(2026, 11, 20, 8, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 7 ", 7),
        ("00030", 30),
        ("3601", 3600),
        ("9" * 400, 3600),
        ("Fri, 20 Nov 2026 08:05:00 GMT", 300),
        ("Friday, 20-Nov-26 08:05:00 GMT", 300),
        ("Fri Nov 20 08:05:00 2026", 300),
        ("Thu Dec  3 08:05:00 2026", 3600),
        ("Fri, 20 Nov 2026 07:00:00 GMT", 0),
        ("Friday, 20-Nov-98 08:05:00 GMT", 0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
        ("Friday, 20-Nov-76 08:05:00 GMT", 3600),
        ("Saturday, 20-Nov-77 08:05:00 GMT", 0),
        ("Fri, 20 Nov 2026 08:01:60 GMT", 119),
        ("Fri, 20 Nov 2036 08:05:00 GMT", 3600),
    ],
)
def test_the_wait_is_read_and_never_over_an_hour(value: str, seconds: float) -> None:
    assert retry_after_s(value, NOW) == seconds


@pytest.mark.parametrize(
    "value", [None, "", "soon", "-5", "1.5", "1e3", "٣", "Fri, 32 Nov 2026 08:05:00 GMT", "Fri, 20 Foo 2026 08:05:00 GMT",
              "Fri, 20 Nov 2026 25:05:00 GMT", "2026-11-20T08:05:00Z", "Fri, 20 Nov 2026 08:05:00 PST"],
)  # fmt: skip
def test_what_cannot_be_read_means_a_minute(value: str | None) -> None:
    assert retry_after_s(value, NOW) == 60


@pytest.mark.parametrize("month", range(1, 13))
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 3600))
def test_the_three_forms_say_the_same_in_every_month(month: int, seconds: int) -> None:
    now = NOW.replace(month=month)
    moment = now + timedelta(seconds=seconds)
    for form in ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"):
        assert retry_after_s(moment.strftime(form), now) == seconds


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_no_header_breaks_the_reader(value: str) -> None:
    assert 0 <= retry_after_s(value, NOW) <= 3600
