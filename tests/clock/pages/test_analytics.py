"""`/clock_analytics`: figures of a range of days, from kept totals and from the punches themselves."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from app.clock.figures import analytics as figures
from app.clock.punches import daily_totals

URL = "/clock_analytics"


@pytest.fixture
async def week(database):
    """Monday 16 to Sunday 22 November 2026: a check-in at 8 and a check-out at 17 each day, uploaded after a minute and after a day."""
    async with database.transaction("main") as db:
        for day in range(16, 23):
            for hour, code, late in ((8, 0, timedelta(minutes=1)), (17, 1, timedelta(days=1, seconds=1))):
                at = datetime(2026, 11, day, hour, 15)
                await db.execute(
                    text(
                        "INSERT INTO clock_transactions (id_generation, remote_id, emp_code, terminal_sn, punch_code, punched_at_raw,"
                        " punched_at_local, punched_at_utc, uploaded_at_utc, local_date)"
                        " VALUES (1, :id, '10', 'T1', :code, '', :local, :utc, :up, :day)"
                    ),
                    {
                        "id": f"{day}{hour}", "code": code, "local": at, "utc": at.replace(tzinfo=UTC),
                        "up": at.replace(tzinfo=UTC) + late, "day": at.date(),
                    },
                )  # fmt: skip
        await daily_totals.mark_stale(db, {datetime(2026, 11, day).date() for day in range(16, 23)})
    await daily_totals.roll_up(database, "main")


async def test_it_shows_every_day_of_the_range(vera, week):
    html = (await vera.get(f"{URL}?from=2026-11-15&to=2026-11-22")).text
    assert html.count('<th scope="row">2026-11-') == 16  # once by code, once as a rate
    assert 'title="Monday 08–09 h: 1 punches"' in html
    assert 'title="Monday 09–10 h: 0 punches"' in html


async def test_lateness_knows_its_bounds(database, week):
    async with database.transaction("main") as db:
        shape = await figures.shape(db, datetime(2026, 11, 16).date(), datetime(2026, 11, 22).date())
    assert [(label, n) for label, n, _ in shape.late] == [
        ("Within a minute", 7), ("Within 5 minutes", 0), ("Within an hour", 0), ("Within a day", 0), ("Later", 7),
    ]  # fmt: skip
    assert shape.hours[(1, 8)] == 1


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("from=2026-11-22&to=2026-11-16", "The first day is after the last day."),
        ("from=nonsense", "Give a date such as 2026-11-21."),
        ("from=2020-01-01&to=2026-11-21", "At most 366 days"),
    ],
)
async def test_a_range_that_can_not_be_shown_says_why(vera, week, query, sentence):
    answer = await vera.get(f"{URL}?{query}")
    assert (answer.status_code, sentence in answer.text) == (200, True)


@pytest.mark.parametrize(
    "query", ["from=9999-12-31", "to=0001-01-01", "from=0001-01-05&to=0001-01-02", "to=9999-12-31"]
)
async def test_the_ends_of_the_calendar_break_nothing(vera, week, query):
    assert (await vera.get(f"{URL}?{query}")).status_code == 200


async def test_days_without_punches_say_what_to_do(vera, week):
    assert "No punches in these days" in (await vera.get(f"{URL}?from=2025-01-01&to=2025-01-31")).text


async def test_an_export_holds_the_days_of_the_range(vera, week):
    lines = (await vera.get(f"{URL}?from=2026-11-16&to=2026-11-18&export=csv")).text.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("Date,Check In,Check Out")
    assert lines[1].startswith("2026-11-16,1,1,")


async def test_it_needs_the_permission(sign_in):
    nora = await sign_in("nora")
    assert (await nora.get(URL)).status_code == 403
