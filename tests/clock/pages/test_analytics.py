"""`/clock_analytics`: figures of a range of days, from kept totals and from the punches themselves."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import text

from app.charts.compared import PeriodPair
from app.clock.figures import analytics as figures
from app.clock.figures import earlier
from app.clock.mirror import cursors
from app.clock.pages.analytics_charts import Drawn
from app.clock.punches import daily_totals
from app.dates import days_words
from app.periods import PERIODS
from tests.clock.mirrored import connect

URL = "/clock_analytics"


@pytest.fixture
async def week(database):
    """Monday 16 to Sunday 22 November 2026: a check-in at 8 and a check-out at 17 each day,
    uploaded after a minute and after a day."""
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
    assert len(re.findall(r'<th scope="row" data-title>\w{3} \d+ Nov', html)) == 16  # once by code, once as a rate
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


async def test_days_without_punches_say_what_to_do(vera, alice, week, database):
    url = f"{URL}?from=2025-01-01&to=2025-01-31"
    for browser, leads in ((alice, True), (vera, False)):
        page = (await browser.get(url)).text
        assert "No time clock is connected yet" in page
        assert ("Connect a server" in page) is leads
    async with database.transaction() as db:
        await connect(db)
    assert "No punches in these days" in (await vera.get(url)).text


async def test_an_export_holds_the_days_of_the_range(vera, week):
    lines = (await vera.get(f"{URL}?from=2026-11-16&to=2026-11-18&export=csv")).text.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("Date,Check In,Check Out")
    assert lines[1].startswith("2026-11-16,1,1,")


async def test_it_needs_the_permission(sign_in):
    nora = await sign_in("nora")
    assert (await nora.get(URL)).status_code == 403


@pytest.fixture
async def fortnight(database, week):
    """The week before it too, and all of it read; 16 to 22 November has a punch more on Monday."""
    async with database.transaction("main") as db:
        await db.execute(
            text(
                "INSERT INTO clock_transactions (id_generation, remote_id, emp_code, terminal_sn, punch_code, punched_at_raw,"
                " punched_at_local, punched_at_utc, uploaded_at_utc, local_date)"
                " SELECT 1, 'b' || remote_id, emp_code, terminal_sn, punch_code, '', punched_at_local - interval '7 days',"
                " punched_at_utc - interval '7 days', uploaded_at_utc - interval '7 days', local_date - 7"
                " FROM clock_transactions WHERE local_date > '2026-11-16' OR punch_code = 0"
            )
        )
        await daily_totals.mark_stale(db, {date(2026, 11, day) for day in range(9, 16)})
        await cursors.write(
            db, cursors.PUNCHES, "live", kind=cursors.LIVE, starts_on=date(2026, 11, 1), covered_until=datetime.now(UTC)
        )
    await daily_totals.roll_up(database, "main")


LAST_WEEK = "from=2026-11-16&to=2026-11-22"


async def test_a_period_is_compared_with_as_many_days_before(vera, fortnight):
    html = (await vera.get(f"{URL}?{LAST_WEEK}")).text
    assert "14 punches, 1 more than in the 7 days before (13)." in html
    assert "No comparison: there are fewer than 50 punches, in these days or in the 7 days before." in html
    assert "Change: punches against those in the 7 days before." in html
    assert '<td class="num text-secondary" data-label="Change">+1</td>' in html
    assert (
        '<td class="num text-secondary" data-label="7 days earlier">53.8 %</td>' in html
    )  # 7 of 13 came within a minute
    assert "Mon 16 Nov: 2 punches: 1 Check In, 1 Check Out; 7 days earlier: 1" in html
    assert html.count("bar-before") > 3


async def test_days_that_are_not_known_in_full_are_not_compared(vera, fortnight, database):
    html = (await vera.get(f"{URL}?from=2026-11-09&to=2026-11-15")).text
    assert "No comparison with the 7 days before: the first punch is from Mon 9 Nov" in html
    assert 'data-label="Change"' not in html
    assert "bar-before" not in html
    async with database.transaction("main") as db:
        await db.execute(text("UPDATE clock_sync_cursors SET starts_on = '2026-11-12'"))
    html = (await vera.get(f"{URL}?{LAST_WEEK}")).text
    assert "not all of 9 – 11 Nov is read yet." in html
    assert "bar-before" not in html


async def test_lateness_is_not_compared_with_days_whose_punches_were_purged(vera, fortnight, database):
    async with database.transaction("main") as db:
        await db.execute(text("UPDATE clock_analytics_daily SET frozen = true WHERE local_date = '2026-11-10'"))
    html = (await vera.get(f"{URL}?{LAST_WEEK}")).text
    assert 'data-label="7 days earlier">' not in html
    assert "14 punches, 1 more than in the 7 days before (13)." in html


async def test_a_longer_range_counts_its_punches_once(database, fortnight):
    async with database.transaction("main") as db:
        known = await earlier.by_day(db, (date(2026, 11, 9), date(2026, 11, 15)))

    def since(days):
        pair = PeriodPair(date(2026, 11, 16), date(2026, 11, 15) + timedelta(days=days), date(2027, 6, 1))
        return Drawn([], known, pair, "").punches_since

    assert (since(31), since(32)) == (date(2026, 10, 16), None)


@pytest.mark.parametrize("word", ["today", "yesterday", "this-week", "last-week", "this-month", "last-month"])
async def test_periods_are_offered_as_in_the_lists_and_stay_chosen(vera, week, word):
    html = (await vera.get(f"{URL}?period={word}")).text
    assert f'<option value="{word}" selected>' in html
    first, last = PERIODS[word].days(datetime.now(UTC).date())
    assert f", {days_words(first, last, datetime.now(UTC).date())}." in html
    export = (await vera.get(f"{URL}?period={word}&export=csv")).text
    assert export.startswith("Date,Check In")


async def test_a_period_that_is_none_says_so_and_dates_go_before_it(vera, week):
    assert "Choose days, or one of the periods of the list." in (await vera.get(f"{URL}?period=eternity")).text
    html = (await vera.get(f"{URL}?period=today&{LAST_WEEK}")).text
    assert "16 – 22 Nov" in html
    assert "selected>" not in html


async def test_a_page_costs_as_many_selects_however_long_the_range_is(vera, fortnight, selects):
    await vera.get(f"{URL}?{LAST_WEEK}")
    short = len(selects)
    selects.clear()
    await vera.get(f"{URL}?from=2025-11-22&to=2026-11-22")
    assert (short, len(selects)) == (9, 9)
