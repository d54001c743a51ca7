"""Quiet hours and digests by the wall clock of a person's zone."""

from dataclasses import replace
from datetime import UTC, datetime, time

import pytest

from app.alerts.hours import after_quiet, next_digest, quiet_until
from app.alerts.rules import SILENT, Digest, QuietHours

NIGHT = QuietHours(time(22), time(7))
NOON = QuietHours(time(12), time(13, 30))
# Past the hour that comes twice in autumn, and that is left out in spring.
LATE = QuietHours(time(23), time(2, 30))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("quiet", "zone", "now", "until"),
    [
        (None, "UTC", "2026-11-25 03:00", None),
        (NIGHT, "UTC", "2026-11-25 21:59", None),
        (NIGHT, "UTC", "2026-11-25 22:00", "2026-11-26 07:00"),
        (NIGHT, "UTC", "2026-11-26 00:00", "2026-11-26 07:00"),
        (NIGHT, "UTC", "2026-11-26 06:59", "2026-11-26 07:00"),
        (NIGHT, "UTC", "2026-11-26 07:00", None),
        (NOON, "UTC", "2026-11-25 12:00", "2026-11-25 13:30"),
        (NOON, "UTC", "2026-11-25 13:30", None),
        (QuietHours(time(8), time(8)), "UTC", "2026-11-25 08:00", None),
        # The day of the zone is another one than that of UTC.
        (NIGHT, "Asia/Tokyo", "2026-11-25 13:00", "2026-11-25 22:00"),
        (NIGHT, "Asia/Tokyo", "2026-11-25 22:00", None),
        (NIGHT, "America/New_York", "2026-11-26 03:00", "2026-11-26 12:00"),
        # The night of 29 March 2026 is an hour shorter in Zurich, that of 25 October an hour longer.
        (NIGHT, "Europe/Zurich", "2026-03-28 21:00", "2026-03-29 05:00"),
        (NIGHT, "Europe/Zurich", "2026-03-29 05:00", None),
        (NIGHT, "Europe/Zurich", "2026-10-24 20:00", "2026-10-25 06:00"),
        (NIGHT, "Europe/Zurich", "2026-10-25 05:59", "2026-10-25 06:00"),
        (LATE, "Europe/Zurich", "2026-03-29 00:59", "2026-03-29 01:30"),
        (LATE, "Europe/Zurich", "2026-03-29 01:30", None),
        (LATE, "Europe/Zurich", "2026-10-25 00:15", "2026-10-25 00:30"),
        # 02:10 for the second time: the quiet hours ended at 02:30 the first time.
        (LATE, "Europe/Zurich", "2026-10-25 01:10", None),
    ],
)
def test_quiet_hours_end(quiet: QuietHours | None, zone: str, now: str, until: str | None) -> None:
    assert quiet_until(quiet, zone, utc(now)) == (utc(until) if until else None)


@pytest.mark.parametrize(
    ("breaks", "severity", "leaves"),
    [
        (True, "critical", "2026-11-25 13:00"),
        (True, "warning", "2026-11-25 13:30"),
        (False, "critical", "2026-11-25 13:30"),
    ],
)
def test_a_mail_waits_for_the_end_of_quiet_hours_unless_its_severity_breaks_them(
    *, breaks: bool, severity: str, leaves: str
) -> None:
    quiet = QuietHours(NOON.starts, NOON.ends, but_critical=breaks)
    assert after_quiet(quiet, "UTC", severity, utc("2026-11-25 13:00")) == utc(leaves)


@pytest.mark.parametrize(
    ("digest", "zone", "since", "at"),
    [
        (Digest("daily", hour=8), "UTC", "2026-11-25 07:59", "2026-11-25 08:00"),
        (Digest("daily", hour=8), "UTC", "2026-11-25 08:00", "2026-11-25 08:00"),
        (Digest("daily", hour=8), "UTC", "2026-11-25 08:01", "2026-11-26 08:00"),
        (Digest("daily", hour=8), "Asia/Tokyo", "2026-11-25 22:59", "2026-11-25 23:00"),
        (Digest("daily", hour=8), "America/New_York", "2026-11-25 12:00", "2026-11-25 13:00"),
        # The 25th is a Wednesday.
        (Digest("weekly", weekday=0, hour=8), "UTC", "2026-11-25 08:00", "2026-11-30 08:00"),
        (Digest("weekly", weekday=2, hour=8), "UTC", "2026-11-25 08:00", "2026-11-25 08:00"),
        (Digest("weekly", weekday=2, hour=8), "UTC", "2026-11-25 08:01", "2026-12-02 08:00"),
        (Digest("weekly", weekday=0, hour=0), "Pacific/Auckland", "2026-11-29 10:00", "2026-11-29 11:00"),
        # Eight o'clock stays eight o'clock when the clocks change.
        (Digest("daily", hour=8), "Europe/Zurich", "2026-03-28 08:00", "2026-03-29 06:00"),
        (Digest("daily", hour=8), "Europe/Zurich", "2026-10-24 08:00", "2026-10-25 07:00"),
        # 02:00 is left out on 29 March, and comes twice on 25 October: the first one counts.
        (Digest("daily", hour=2), "Europe/Zurich", "2026-03-28 12:00", "2026-03-29 01:00"),
        (Digest("daily", hour=2), "Europe/Zurich", "2026-10-24 12:00", "2026-10-25 00:00"),
        (Digest("daily", hour=2), "Europe/Zurich", "2026-10-25 00:30", "2026-10-26 01:00"),
    ],
)
def test_the_next_digest(digest: Digest, zone: str, since: str, at: str) -> None:
    assert next_digest(replace(SILENT, digest=digest, zone=zone), utc(since)) == utc(at)
