"""The page `/clock`: what it says, that each number links to exactly what it counts, and who may see it."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import any_, delete, func, select, true, update

from app.accounts import accounts, roles
from app.accounts.audit import COMMAND_LINE, SYSTEM
from app.clock.codes import BINDING_STATES
from app.clock.figures import dashboard
from app.clock.figures.dashboard import DayOutcome
from app.clock.mirror import cursors, set_aside
from app.clock.models import Connection, Department, Punch, StaleDay
from app.clock.outcomes import Outcome
from app.clock.pages import dashboard as page
from app.clock.pages import health
from app.clock.punches import daily_totals, day_counts
from app.clock.punches.punch_filter import PunchFilter
from app.clock.punches.queries import counted_by_day
from app.clock.review import settling
from app.dates import PageZone, day_words, days_words
from app.db.session import Database
from app.parts import Parts
from app.problems import looking
from app.problems.models import Problem
from tests.clock.mirrored import mirror_person, mirror_terminal, punch
from tests.clock.sync_rows import connected, disappearance, run
from tests.conftest import Browser
from tests.markup import squeezed

TODAY = datetime.now(ZoneInfo("Europe/Berlin")).date()


async def tap(database: Database, code: str, day: date, outcome: str | None, times: int = 1) -> None:
    async with database.transaction() as db:
        await punch(db, code, ", ".join(f"I {day} 08:{minute:02}" for minute in range(times)), zone="Europe/Berlin")
        await db.execute(
            update(Punch).where(Punch.local_date == day, Punch.emp_code == code).values(import_outcome=outcome)
        )


async def test_without_a_connection_it_shows_the_way_to_one(alice: Browser, vera: Browser) -> None:
    assert "/clock_settings/setup" in (await alice.get("/clock")).text
    seen = (await vera.get("/clock")).text
    assert "/clock_settings/setup" not in seen
    assert "No time-clock server is connected yet" in seen


async def test_strangers_sign_in_and_people_without_the_permission_are_refused(
    visitor: Browser, sign_in: Any, parts: Parts
) -> None:
    await connected(parts)
    assert (await visitor.get("/clock")).headers["location"].startswith("/sign-in")
    assert (await (await sign_in("nora")).get("/clock")).status_code == 403
    assert (await (await sign_in("vera")).get("/clock")).status_code == 200


async def test_another_workspace_sees_nothing_of_it(parts: Parts, database: Database, eve: Browser) -> None:
    await connected(parts)
    assert "No time-clock server is connected yet" in (await eve.get("/clock")).text


async def test_a_door_reader_that_is_offline_holds_nothing_back(parts: Parts, database: Database) -> None:
    """Whether a person marked it as one, or the server says so of one that no person marked."""
    now = datetime.now(UTC)
    await connected(parts, last_success_at=now)
    seen = {"state": "offline", "last_activity_at": now - timedelta(hours=3)}
    async with database.transaction() as db:
        await mirror_terminal(db, "MARKED", kind_mark="access", **seen)
        await mirror_terminal(db, "FLAGGED", remote_attendance=False, **seen)
        await mirror_terminal(db, "CLOCK", kind_mark="attendance", remote_attendance=False, **seen)
        await mirror_terminal(db, "UNMARKED", **seen)
        await looking.look(db)
        offline = await db.scalars(select(Problem.subject_id).where(Problem.kind == "terminal_offline"))
        assert set(offline) == {"CLOCK", "UNMARKED"}


async def test_htmx_gets_the_board(parts: Parts, alice: Browser) -> None:
    await connected(parts)
    answer = await alice.fragment("/clock")
    assert "Needs a person" in answer.text
    assert "<html" not in answer.text


async def total_of(browser: Browser, address: str) -> int:
    """How many rows the list behind a link says that it has."""
    text = (await browser.get(address)).text
    found = re.search(r'class="pager-count"[^>]*>.*?<strong>([\d,]+)</strong>', text, re.DOTALL)
    return int(found[1].replace(",", "")) if found else 0


async def test_every_state_links_to_the_list_that_it_counts(parts: Parts, database: Database, alice: Browser) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await mirror_person(db, "1", state="conflict")
        await mirror_person(db, "2", state="conflict")
        await mirror_person(db, "3", state="conflict", absent_since=datetime.now(UTC))
        await mirror_person(db, "4", state="ignored")
    text = (await alice.get("/clock")).text
    for state in BINDING_STATES:
        address = f"/clock_employees?state={state.value}"
        (number,) = re.findall(rf'href="{re.escape(address)}"[^>]*><span.*?<strong>(\d+)</strong>', text)
        assert int(number) == await total_of(alice, address), state


async def test_records_that_a_person_kept_no_longer_need_a_person(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts)
    await tap(database, "1", TODAY, "arrived_late", 3)
    async with database.transaction() as db:
        await daily_totals.mark_stale(db, [TODAY])
        kept = select(func.min(Punch.id)).scalar_subquery()
        await db.execute(update(Punch).where(Punch.id == kept).values(settled_at_utc=func.now(), settled_by="Bob"))
    async with database.transaction() as db:
        assert (await dashboard.punches(db, TODAY)).needs_person == [(Outcome.ARRIVED_LATE, 2)]
    (address,) = re.findall(r'href="(/clock_transactions\?outcome=[^"]+)"', (await alice.get("/clock")).text)
    assert await total_of(alice, address.replace("&amp;", "&")) == 2
    async with database.transaction() as db:
        await db.execute(update(Punch).values(settled_at_utc=func.now(), settled_by="Bob"))
        assert (await dashboard.punches(db, TODAY)).needs_person == []


@pytest.mark.parametrize("rolled_up", [False, True])
async def test_the_pile_reaches_zero_when_all_are_settled(
    parts: Parts, database: Database, alice: Browser, rolled_up: bool
) -> None:
    await connected(parts)
    await tap(database, "1", TODAY, "only_one_punch", 3)
    await tap(database, "2", TODAY, "not_bound", 2)
    await tap(database, "3", TODAY, "not_bound", 4)
    async with database.transaction() as db:
        await mirror_person(db, "3", state="ignored")
        first = select(func.min(Punch.id)).group_by(Punch.emp_code).scalar_subquery()
        await settling.settle(db, SYSTEM, Punch.id == any_(func.array(first)))

    async def found() -> dashboard.Punches:
        if rolled_up:
            await daily_totals.roll_up(database, "main")
        async with database.transaction() as db:
            return await dashboard.punches(db, TODAY)

    punches = await found()
    assert punches.needs_person == [(Outcome.ONLY_ONE_PUNCH, 2), (Outcome.NOT_BOUND, 1)]
    assert (punches.total, punches.ignored, punches.settled) == (
        9,
        3,
        {Outcome.ONLY_ONE_PUNCH: 1, Outcome.NOT_BOUND: 2},
    )
    assert punches.days[-1].values == (0, 0, 3, 6)
    addresses = re.findall(r'href="(/clock_transactions\?outcome=[^"]+)"', (await alice.get("/clock")).text)
    assert [await total_of(alice, one.replace("&amp;", "&")) for one in addresses] == [2, 1]
    async with database.transaction() as db:
        await settling.settle(db, SYSTEM, true())
    punches = await found()
    assert (punches.needs_person, punches.total) == ([], 9)
    assert "days needs a person." in (await alice.get("/clock")).text


@pytest.mark.parametrize("rolled_up", [False, True])
async def test_a_settled_punch_that_is_gone_is_left_out_once(parts: Parts, database: Database, rolled_up: bool) -> None:
    await connected(parts)
    await tap(database, "1", TODAY, "only_one_punch", 3)
    async with database.transaction() as db:
        first = select(func.min(Punch.id)).scalar_subquery()
        gone = {"gone_at_utc": func.now(), "settled_at_utc": func.now(), "settled_by": "Bob"}
        await db.execute(update(Punch).where(Punch.id == first).values(**gone))
        await daily_totals.mark_stale(db, [TODAY])
    if rolled_up:
        await daily_totals.roll_up(database, "main")
    async with database.transaction() as db:
        assert (await dashboard.punches(db, TODAY)).needs_person == [(Outcome.ONLY_ONE_PUNCH, 2)]


async def test_punches_of_ignored_codes_need_no_person(parts: Parts, database: Database, alice: Browser) -> None:
    await connected(parts)
    long_ago = TODAY - timedelta(days=29)
    for code, day, times in (
        ("1", TODAY, 3),
        ("2", TODAY, 2),
        ("2", long_ago, 4),
        ("2", long_ago - timedelta(days=1), 5),
    ):
        await tap(database, code, day, "not_bound", times)
    async with database.transaction() as db:
        await mirror_person(db, "1")
        await mirror_person(db, "2", state="ignored")
        await db.execute(delete(StaleDay).where(StaleDay.local_date != TODAY))
        await daily_totals.count_days(db, [long_ago])
        found = await dashboard.punches(db, TODAY)
    assert (found.needs_person, found.total, found.ignored) == ([(Outcome.NOT_BOUND, 3)], 9, 6)
    assert found.days[-1].values == (0, 0, 3, 2)
    (address,) = re.findall(r'href="(/clock_transactions\?outcome=[^"]+)"', (await alice.get("/clock")).text)
    assert await total_of(alice, address.replace("&amp;", "&")) == 3
    assert await total_of(alice, address.replace("&amp;", "&").replace("without", "only")) == 6


async def test_what_needs_a_person_is_counted_as_the_list_counts_it_biggest_first(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts)
    await tap(database, "1", TODAY, "overlaps", 2)
    await tap(database, "2", TODAY - timedelta(days=29), "not_bound", 3)
    await tap(database, "3", TODAY - timedelta(days=30), "not_bound", 5)
    await tap(database, "4", TODAY + timedelta(days=400), "future_timestamp")
    await tap(database, "5", TODAY, "imported", 9)
    since = TODAY - timedelta(days=29)
    async with database.transaction() as db:
        await db.execute(delete(StaleDay).where(StaleDay.local_date != TODAY))
        await daily_totals.count_days(db, [since, TODAY - timedelta(days=30), TODAY + timedelta(days=400)])
        found = await dashboard.punches(db, TODAY)
        for outcome, number in found.needs_person:
            listed = PunchFilter(days=(since, None), outcomes=(outcome.value,))
            assert (await counted_by_day(db, listed)).total == number
    assert found.needs_person == [
        (Outcome.NOT_BOUND, 3), (Outcome.OVERLAPS, 2), (Outcome.FUTURE_TIMESTAMP, 1)
    ]  # fmt: skip
    text = (await alice.get("/clock")).text
    assert f'href="/clock_transactions?outcome=not_bound&amp;from={since}"' in text
    assert text.index("Not bound") < text.index("Overlaps an existing record")


def test_days_are_stacked_by_group_and_what_was_not_judged_waits() -> None:
    rows = [(TODAY, "imported", 4), (TODAY, "repeat_tap", 1), (TODAY, "", 2), (TODAY, "date_locked", 3)]
    found = dashboard.summed([DayOutcome(*row) for row in rows], TODAY, {})
    assert len(found.days) == 14
    assert found.days[-1] == dashboard.DayBar(TODAY, (5, 2, 0, 3))
    assert found.days[0].values == (0, 0, 0, 0)


async def test_each_day_links_to_its_punches(parts: Parts, alice: Browser) -> None:
    await connected(parts)
    text = (await alice.get("/clock")).text
    for back in range(14):
        day = TODAY - timedelta(days=back)
        assert f'href="/clock_transactions?from={day}&amp;to={day}"' in text


async def test_last_run_and_problems_are_named(parts: Parts, database: Database, alice: Browser) -> None:
    await connected(parts, last_success_at=datetime.now(UTC))
    async with database.transaction() as db:
        number = await run(db, "failed", error_code="TC-NET")
        await disappearance(db, 12)
        await mirror_terminal(db, "SN1/2", alias="Gate " + "g" * 150, clock_skew_seconds=-2040)
        await looking.look(db)
        found = dict((await db.execute(select(Problem.kind, Problem.id))).all())
    text = squeezed((await alice.get("/clock")).text)
    assert f"/clock_sync/runs/{number}" in text
    gone = f'<a class="text-decoration-underline" href="/problems/{found["people_gone"]}" data-drawer>The server no longer lists many people</a>'
    assert gone in text
    assert (
        'href="/clock_sync/disappearance/employees">Open its page<span class="visually-hidden">: The server no longer'
        in text
    )
    assert (
        f'<a class="text-decoration-underline" href="/problems/{found["terminal_skew"]}" data-drawer>The clock of terminal Gate ggg'
        in text
    )
    assert 'href="/clock_devices?serial=SN1%2F2">Open its page<span class="visually-hidden">: The clock of' in text
    assert '<a href="/problems?view=all">All problems</a>' in text
    shown = re.compile(r'<h2 id="h-problems">Problems</h2>\D*>([\d,]+)<')
    (before,) = shown.findall(text)
    await alice.submit(f"/problems/{found['terminal_skew']}/snooze", {"until": "hour"})
    (now,) = shown.findall(squeezed((await alice.get("/clock")).text))
    assert int(now) == int(before) - 1 == len(found) - 1


@pytest.mark.parametrize(("right", "shown"), [("clock.settings", False), ("clock.devices", True)])
async def test_a_problem_is_for_those_who_may_open_its_page(
    parts: Parts, database: Database, sign_in: Any, right: str, shown: bool
) -> None:
    """Whether or not they may open the list of problems."""
    await connected(parts, last_success_at=datetime.now(UTC))
    async with database.transaction() as db:
        await mirror_terminal(db, "SN1", clock_skew_seconds=-2040)
        await roles.add(db, COMMAND_LINE, "Onlooker", ["clock.dashboard", right])
        bob = await accounts.find_by_email(db, "bob@example.org")
        await accounts.edit(db, COMMAND_LINE, bob.id, name=bob.name, kind=bob.type, roles=["Onlooker"])
        await looking.look(db)
    text = (await (await sign_in("bob")).get("/clock")).text
    assert ("The clock of terminal SN1 is wrong" in text) is shown
    assert ('href="/clock_devices?serial=SN1"' in text) is shown
    assert "/problems" not in text


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("unverified", "not tested yet"),
        ("healthy", "Connected to clock.example.org"),
        ("failing", "clock.example.org failed 5 min ago: No route. It never worked."),
        ("locked", "until 13:10"),
        ("paused", "paused"),
    ],
)
def test_health_is_one_sentence_a_status(status: str, words: str) -> None:
    now = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    found = Connection(
        base_url="https://clock.example.org",
        timezone="Europe/Berlin",
        status=status,
        last_error_code="TC-NET",
        last_error_message="No route.",
        last_error_at=now - timedelta(minutes=5),
        locked_until=now + timedelta(minutes=10),
        last_success_at=now if status == "healthy" else None,
    )
    assert words in health.of(found, now).sentence


def test_a_fault_of_ours_is_not_said_of_the_server() -> None:
    now = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    broke = Connection(
        base_url="https://clock.example.org", status="failing", last_error_code="TC-IMPORT",
        last_error_message="Muster itself failed.", last_error_at=now, last_success_at=now,
    )  # fmt: skip
    said = health.of(broke, now)
    assert said.sentence.startswith("The last run failed 0 s ago: Muster itself failed.")
    assert "clock.example.org" not in said.sentence


async def test_it_reads_little_however_many_punches_there_are(parts: Parts, database: Database, alice: Browser) -> None:
    """Only stale days are counted from the punches; the rest comes from the kept counts."""
    await connected(parts)
    await tap(database, "1", TODAY - timedelta(days=1), "imported", 20)
    async with database.transaction() as db:
        await day_counts.recount(db, [TODAY - timedelta(days=1)])
        await db.execute(delete(StaleDay))
        await db.execute(update(Punch).values(import_outcome="not_bound"))
        assert (await dashboard.punches(db, TODAY)).needs_person == []


EVERYTHING = "Everything until then has been read."


async def test_a_run_that_set_rows_aside_is_not_called_complete(
    parts: Parts, database: Database, vera: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "partial", resources={"transactions": {"fetched": 500, "set_aside": 3}})
    text = (await vera.get("/clock")).text
    assert EVERYTHING not in text
    assert "3 rows were set aside and are missing here." in text
    assert f'href="/clock_sync/runs/{number}#h-aside"' in text


async def test_rows_that_history_still_lacks_are_told_after_later_runs(
    parts: Parts, database: Database, vera: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "partial")
        pending = set_aside.pending_with(None, 1, number)
        await cursors.write(
            db, cursors.PUNCHES, "backfill:2026-01-01", kind="backfill", state="complete", pending=pending
        )
        await run(db, "succeeded", resources={})
    text = (await vera.get("/clock")).text
    assert EVERYTHING not in text
    assert "1 row was set aside and is missing here." in text
    assert f'href="/clock_sync/runs/{number}#h-aside"' in text


async def test_without_rows_set_aside_everything_has_been_read(parts: Parts, database: Database, vera: Browser) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await run(db, "succeeded", resources={"transactions": {"fetched": 500, "set_aside": 0}})
        await cursors.write(
            db, cursors.PUNCHES, "live", kind="live", state="complete", covered_until=datetime.now(UTC),
            starts_on=date(2020, 1, 1),
        )  # fmt: skip
    assert EVERYTHING in (await vera.get("/clock")).text


UTC_ZONE = ZoneInfo("UTC")
IN_AN_HOUR = datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("current", "state", "due", "value", "hint"),
    [
        (object(), "connected", IN_AN_HOUR, "Now", ""),
        (None, "paused", IN_AN_HOUR, "Paused", "No sync starts by itself."),
        (None, "locked", None, "Locked", "No sync starts by itself."),
        (None, "connected", IN_AN_HOUR, "in 60 min", "Sat 21 Nov, 10:00"),
        (None, "connected", IN_AN_HOUR - timedelta(hours=1), "Due now", "Sat 21 Nov, 09:00"),
        (None, "connected", None, "By hand", "The schedule is off."),
    ],
)
def test_the_tile_of_the_next_sync(
    current: object | None, state: str, due: datetime | None, value: str, hint: str
) -> None:
    now = IN_AN_HOUR - timedelta(hours=1)
    assert page.next_tile(current, state, due, now, PageZone.at(ZoneInfo("Europe/Zagreb"), now)) == page.NextTile(
        value, hint
    )


@pytest.mark.parametrize(
    ("up_to", "cause", "aside", "tone", "hint"),
    [
        (IN_AN_HOUR, None, 0, "ok", "Sat 21 Nov, 09:00. Everything until then has been read."),
        (IN_AN_HOUR, "History is read.", 0, "warn", "Sat 21 Nov, 09:00. History is read."),
        (IN_AN_HOUR, None, 1200, "warn", "Sat 21 Nov, 09:00. 1,200 rows were set aside and are missing here."),
        (None, "No run has ended.", 1, "warn", "No run has ended. 1 row was set aside and is missing here."),
    ],
)
def test_the_tile_of_what_is_complete(
    up_to: datetime | None, cause: str | None, aside: int, tone: str, hint: str
) -> None:
    assert page.complete_tile(up_to, cause, aside, PageZone.at(UTC_ZONE, IN_AN_HOUR)) == page.CompleteTile(
        up_to, tone, hint
    )


async def test_what_keeps_punches_from_counting_is_named_with_its_number(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await mirror_terminal(db, "T1", alias="Main gate")
        await punch(
            db, "100", ", ".join(f"x {TODAY} 08:{minute:02}" for minute in range(12)), zone="Europe/Berlin", sn="T1"
        )
        await db.execute(update(Punch).values(import_outcome="no_direction"))
        db.add(Department(code="D1", name="Canteen"))
        for code in ("1", "2"):
            await mirror_person(db, code, department_code="D1", state="not_found", seen=1)
            times = ", ".join(f"I {TODAY} 08:{minute:02}" for minute in range(6))
            await punch(db, code, times, zone="Europe/Berlin")
        await db.execute(update(Punch).where(Punch.emp_code != "100").values(import_outcome="not_bound"))
        await daily_totals.mark_stale(db, [TODAY])
    # The day is noted as the transaction ends.
    async with database.transaction() as db:
        await looking.look(db)
    page = squeezed((await bob.get("/clock")).text)
    for said in (
        "No punch of terminal Main gate counts: they say neither in nor out",
        "Most people of Canteen are not bound",
    ):
        assert "holds 12 punches" in page.partition(said)[2].partition("</li>")[0], said
    async with database.transaction() as db:
        await db.execute(update(Punch).values(settled_at_utc=datetime.now(UTC), settled_by="Bob"))
        await looking.look(db)
    assert "holds 12 punches" not in (await bob.get("/clock")).text


class TestComparison:
    """The last 14 days with the 14 before them."""

    @pytest.fixture
    async def busy(self, parts: Parts, database: Database) -> None:
        await connected(parts)
        for back, times in ((27, 1), (20, 9), (13, 6), (1, 6), (0, 3)):
            await tap(database, str(back), TODAY - timedelta(days=back), "imported", times)
        async with database.transaction() as db:
            days = [TODAY - timedelta(days=back) for back in range(30)]
            await daily_totals.count_days(db, days)
            await cursors.write(
                db, cursors.PUNCHES, "live", kind=cursors.LIVE, starts_on=days[-1], covered_until=datetime.now(UTC)
            )

    async def test_days_that_are_over_are_compared_and_all_are_drawn(self, busy: None, alice: Browser) -> None:
        text = (await alice.get("/clock")).text
        assert "Until yesterday 12 punches, 2 more than 14 days earlier (10)." in text
        assert f"{day_words(TODAY - timedelta(days=6), TODAY)}: 0 punches; 14 days earlier: 9" in text
        assert text.count('<line class="bar-before" x1="0"') == 14

    async def test_days_that_are_not_read_are_not_compared(
        self, busy: None, database: Database, alice: Browser
    ) -> None:
        async with database.transaction() as db:
            await cursors.write(db, cursors.PUNCHES, "live", kind=cursors.LIVE, starts_on=TODAY - timedelta(days=20))
        text = (await alice.get("/clock")).text
        first, last = TODAY - timedelta(days=27), TODAY - timedelta(days=21)
        unread = days_words(first, last, TODAY)
        assert f"No comparison with the 14 days before: not all of {unread} is read yet." in text
        assert "bar-before" not in text

    async def test_it_costs_one_select(self, busy: None, alice: Browser, selects: list[str]) -> None:
        await alice.get("/clock")
        assert sum(one.startswith("SELECT clock_analytics_daily.local_date") for one in selects) == 1
