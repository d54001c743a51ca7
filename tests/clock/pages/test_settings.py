"""The page Settings: the connection, its live test, and the module settings with what a rule would change."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import AuditEntry, Job
from app.clock.importing import import_due, preview
from app.clock.models import Connection, Punch
from app.clock.pages.setting_fields import FLAGS
from app.clock.punches import daily_totals
from app.clock.settings import NAMES, checked, read_settings, write_settings
from app.dates import day_words
from app.db.session import Database
from app.parts import Parts
from app.simulator import PASSWORD, USERNAME, build_world, create_simulator, serving
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, outcomes, punch
from tests.clock.sync_rows import connected
from tests.conftest import Browser, SignIn

URL = "/clock_settings"
POSTS = ("", "/connection", "/connection/test", "/unlock")
DAY = (datetime.now(UTC) - timedelta(days=3)).date()


@pytest.fixture
async def clock() -> AsyncIterator[str]:
    """The address of a simulated server."""
    world = build_world(3, 5, 7, 2, datetime(2026, 11, 20, 11, tzinfo=UTC), "Europe/Berlin")
    async with serving(create_simulator(world)) as address:
        yield address


def server(address: str, **more: str) -> dict[str, str]:
    fields = {"base_url": address, "profile": "cloud", "username": USERNAME, "password": PASSWORD}
    return {**fields, "timezone": "Europe/Berlin", **more}


async def posted(browser: Browser, **changes: str) -> dict[str, str]:
    """Every setting, as a program posts them all at once, with changes."""
    page = (await browser.get(URL)).text
    form = page[page.index('action="/clock_settings/sections/') :]
    values = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    values["default_direction"] = "by_code"
    switches = {name: name in re.findall(r'name="(\w+)" value="1" checked', form) for name in NAMES}
    kept = {name: value for name, value in values.items() if name in NAMES and (value != "1" or switches[name])}
    return {**kept, **changes}


async def connection_of(database: Database) -> Connection | None:
    async with database.transaction() as db:
        return await db.scalar(select(Connection))


async def test_strangers_sign_in_and_operators_are_refused(visitor: Browser, sign_in: SignIn) -> None:
    bob = await sign_in("bob")
    assert (await visitor.get(URL)).headers["location"].startswith("/sign-in")
    for url in (URL, f"{URL}/connection/test/live"):
        assert (await bob.get(url)).status_code == 403
    for url in POSTS:
        assert (await bob.submit(f"{URL}{url}")).status_code == 403


async def test_each_workspace_has_settings_of_its_own(
    parts: Parts, database: Database, alice: Browser, eve: Browser
) -> None:
    await connected(parts, "http://alice.example:8080")
    assert "alice.example" not in (await eve.get(URL)).text
    assert (await eve.submit(URL, await posted(eve, silence_hours="48"))).status_code == 303
    assert 'name="silence_hours" value="24"' in (await alice.get(URL)).text
    assert 'name="silence_hours" value="48"' in (await eve.get(URL)).text


async def test_a_connection_is_saved_sealed_and_its_password_never_shown(database: Database, alice: Browser) -> None:
    answer = await alice.submit(f"{URL}/connection", server("http://127.0.0.1:1", company=" Acme "))
    assert answer.status_code == 303
    found = await connection_of(database)
    assert found is not None
    assert (found.status, found.company, found.timezone) == ("unverified", "Acme", "Europe/Berlin")
    assert PASSWORD not in found.password
    page = (await alice.get(URL)).text
    assert PASSWORD not in page
    assert found.password not in page
    async with database.shared_transaction() as db:
        audited = [
            f"{before} {after}" for before, after in await db.execute(select(AuditEntry.before, AuditEntry.after))
        ]
    assert PASSWORD not in " ".join(audited)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("base_url", "clock.example.org", None),
        ("base_url", "", "This is needed."),
        ("base_url", "http://０.０.０.０", "is not an address"),
        ("base_url", "http://00.00.00.01", "is not an address"),
        ("base_url", "http://xn--", "is not an address"),
        ("password", "", "Give the password."),
        ("timezone", "Berlin", "not a time zone"),
        ("profile", "abacus", "Choose one of the list."),
        ("overrides", "paths.transactions", "has no “=”"),
        ("overrides", "paths.transactions = /no/slash", "ends in a slash"),
        ("overrides", "paths.sign_in = /web/oauth/api/v2/sign_in/", "known to be wrong"),
    ],
)
async def test_what_is_wrong_is_said_at_its_field(
    database: Database, alice: Browser, field: str, value: str, message: str | None
) -> None:
    answer = await alice.submit(f"{URL}/connection", server("http://127.0.0.1:1", **{field: value}))
    assert answer.status_code == 422
    error = re.search(rf'id="f-{field}-error"[^>]*>(.*?)</div>', answer.text, re.DOTALL)
    assert error is not None
    assert message is None or message in error[1]
    assert await connection_of(database) is None


async def test_another_address_needs_the_password_again(parts: Parts, database: Database, alice: Browser) -> None:
    await connected(parts)
    answer = await alice.submit(f"{URL}/connection", server("http://127.0.0.1:2", password=""))
    assert answer.status_code == 422
    assert "will be sent to another address" in answer.text
    same = await alice.submit(f"{URL}/connection", server("http://127.0.0.1:1", password="", username="other"))
    assert same.status_code == 303
    found = await connection_of(database)
    assert found is not None
    assert (found.base_url, found.username) == ("http://127.0.0.1:1", "other")


async def test_moving_punches_to_another_zone_is_asked_with_their_number(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await punch(db, "1", f"I {DAY} 08:00, O {DAY} 17:00", zone="Europe/Berlin")
        await daily_totals.mark_stale(db, [DAY])
    wanted = server("http://127.0.0.1:1", password="", timezone="Asia/Manila")
    asked = await alice.submit(f"{URL}/connection", wanted)
    assert asked.status_code == 422
    assert "all 2 mirrored punches" in asked.text
    assert (await alice.submit(f"{URL}/connection", {**wanted, "moves_punches": "1"})).status_code == 303
    found = await connection_of(database)
    assert found is not None
    assert found.timezone == "Asia/Manila"


async def test_the_test_shows_each_step_with_its_time(database: Database, alice: Browser, clock: str) -> None:
    await alice.submit(f"{URL}/connection", server(clock))
    text = (await alice.submit(f"{URL}/connection/test")).text
    assert text.count('class="step-done"') == 4
    assert text.count('class="step-warning"') == 1
    assert re.search(r'step-warning"(?s:.)*?Encrypt \(TLS\)(?s:.)*?Not encrypted', text)
    assert re.search(r"\d ms · Signed in as", text)
    assert "The connection works." in text
    found = await connection_of(database)
    assert found is not None
    assert found.status == "healthy"


async def test_a_failed_step_says_what_and_what_to_do(database: Database, alice: Browser, clock: str) -> None:
    await alice.submit(f"{URL}/connection", server(clock, password="wrong"))
    text = (await alice.submit(f"{URL}/connection/test")).text
    assert text.count('class="step-done"') == 2
    assert text.count('class="step-warning"') == 1
    assert text.count('class="step-failed"') == 1
    assert text.count('class="step-waiting"') == 1
    assert "TC-AUTH" in text
    assert "Check the user name and the password on the server." in text


async def test_a_test_of_a_locked_connection_makes_no_call(parts: Parts, database: Database, alice: Browser) -> None:
    await connected(parts)
    until = datetime.now(UTC) + timedelta(hours=1)
    async with database.transaction() as db:
        await db.execute(update(Connection).values(status="locked", locked_until=until, timezone="Asia/Kathmandu"))
    text_ = (await alice.submit(f"{URL}/connection/test")).text
    assert "The connection is locked" in text_
    refused = await alice.submit(f"{URL}/unlock")
    assert refused.status_code == 409
    assert f"{until.astimezone(ZoneInfo('Asia/Kathmandu')):%H:%M} on (Asia/Kathmandu)." in refused.text
    async with database.transaction() as db:
        assert await db.scalar(text("SELECT count(*) FROM clock_api_logs")) == 0
        await db.execute(update(Connection).values(locked_until=datetime.now(UTC) - timedelta(minutes=1)))
    assert (await alice.submit(f"{URL}/unlock")).status_code == 303


async def test_with_script_the_steps_come_live_and_once(alice: Browser, clock: str) -> None:
    await alice.submit(f"{URL}/connection", server(clock))
    frame = await alice.submit(f"{URL}/connection/test", headers={"HX-Request": "true"})
    (address,) = re.findall(r'sse-connect="([^"]+)"', frame.text)
    events = await alice.get(address.replace("&amp;", "&"))
    assert events.headers["content-type"].startswith("text/event-stream")
    assert events.text.count("event: test") == 7
    assert "The connection works." in events.text
    assert events.text.rstrip().endswith("data: over")
    assert "test-button" not in events.text


async def test_in_the_set_up_a_good_test_has_the_way_on_lead(alice: Browser, clock: str) -> None:
    await alice.submit(f"{URL}/connection", server(clock))
    frame = await alice.submit(f"{URL}/connection/test", {"then": "setup"}, headers={"HX-Request": "true"})
    (address,) = re.findall(r'sse-connect="([^"]+)"', frame.text)
    *running, tested = (await alice.get(address.replace("&amp;", "&"))).text.split("event: test")[1:]
    assert "btn-primary" not in "".join(running)
    assert tested.count("btn-primary") == 1
    assert "Continue to the first sync" in tested
    assert re.search(
        r'<button class="btn" id="test-button" type="submit" hx-swap-oob="true">.*Test again', tested, re.DOTALL
    )


async def test_no_link_from_elsewhere_starts_a_test(
    parts: Parts, alice: Browser, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await connected(parts)
    frame = await alice.submit(f"{URL}/connection/test", headers={"HX-Request": "true"})
    (ticket,) = re.findall(r"ticket=([\w.]+)", frame.text)
    other = await sign_in("alice")
    for browser, sent in ((alice, ""), (alice, "1.x"), (other, ticket)):
        assert (await browser.get(f"{URL}/connection/test/live?ticket={sent}")).status_code == 409
    monkeypatch.setattr("app.clock.pages.connecting.time.time", lambda: 2e9)
    late = await alice.get(f"{URL}/connection/test/live?ticket={ticket}")
    assert late.status_code == 204


async def test_settings_are_saved_and_audited(database: Database, alice: Browser) -> None:
    form = await posted(alice, sync_interval_minutes="0", show_photos="1", history_start="2026-02-01")
    assert (await alice.submit(URL, form)).status_code == 303
    async with database.transaction() as db:
        found = await read_settings(db)
        audited = await db.scalar(select(AuditEntry.after).where(AuditEntry.act == "clock.settings"))
    assert (found.sync_interval_minutes, found.show_photos, found.double_tap_fix) == (0, True, True)
    assert audited == {"sync_interval_minutes": 0, "show_photos": True, "history_start": "2026-02-01"}
    assert "checked" in (await alice.get(URL)).text.split('name="show_photos"')[1][:40]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sync_interval_minutes", "-1"),
        ("page_size", "0"),
        ("page_size", "ten"),
        ("retain_transactions_days", "61"),
        ("history_start", "1980-01-01"),
        ("history_start", "2199-01-01"),
        ("default_direction", "sideways"),
        ("silence_hours", ""),
    ],
)
async def test_a_value_out_of_bounds_is_said_at_its_field(
    database: Database, alice: Browser, name: str, value: str
) -> None:
    answer = await alice.submit(URL, await posted(alice, **{name: value}))
    assert answer.status_code == 422
    assert f'id="f-{name}-error"' in answer.text
    assert f'value="{value}"' in answer.text or name == "default_direction"
    async with database.transaction() as db:
        assert (await db.scalar(text("SELECT count(*) FROM clock_settings"))) == 0


async def test_a_history_that_begins_in_the_future_is_refused_by_the_day_of_the_connections_zone(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts, timezone="Pacific/Kiritimati")
    today = datetime.now(ZoneInfo("Pacific/Kiritimati")).date()
    tomorrow = (today + timedelta(days=1)).isoformat()
    answer = await alice.submit(URL, await posted(alice, history_start=tomorrow, silence_hours="48"))
    error = re.search(r'id="f-history_start-error"[^>]*>(.*?)</div>', answer.text, re.DOTALL)
    assert error is not None
    assert (
        f"It is in the future, so no punch would be read: give {day_words(today, None)} or an earlier date." in error[1]
    )
    assert 'name="silence_hours" value="48"' in answer.text
    assert (await alice.submit(URL, await posted(alice, history_start=today.isoformat()))).status_code == 303
    async with database.transaction() as db:
        assert (await read_settings(db)).history_start == today


async def shifts(db: AsyncSession, taps: str, *, people: int = 1) -> None:
    """Bound people with the same taps three days ago, imported by the rules that hold."""
    await connect(db)
    await mirror_terminal(db, "T1")
    for number in range(people):
        await mirror_person(db, f"{number}", await employ(db, f"Person {number}"))
        await punch(db, f"{number}", taps.format(day=DAY))


async def imported(database: Database) -> None:
    await import_due.import_due(database.transaction)


async def test_a_rule_is_shown_with_what_it_would_change_and_saved_only_when_confirmed(
    database: Database, alice: Browser
) -> None:
    async with database.transaction() as db:
        await shifts(db, "I {day} 08:00, I {day} 08:20", people=3)
    await imported(database)
    form = await posted(alice, double_tap_minutes="30")
    asked = await alice.submit(URL, form)
    assert asked.status_code == 200
    assert "<strong>3</strong>" in asked.text
    assert "it tries the new rules on all 6 punches of" in asked.text
    async with database.transaction() as db:
        assert (await read_settings(db)).double_tap_minutes == 5
    kept = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', asked.text))
    kept.pop("csrf_token")
    assert (await alice.submit(URL, kept)).status_code == 303
    async with database.transaction() as db:
        found = await read_settings(db)
        jobs = (await db.scalars(select(Job.name))).all()
    assert (found.double_tap_minutes, found.double_tap_fix, found.show_photos) == (30, True, False)
    assert "clock_import" in jobs


CHANGES: list[dict[str, Any]] = [
    {"double_tap_minutes": 30},
    {"double_tap_fix": False},
    {"repeat_tap_seconds": 600},
    {"import_single_punches": True},
    {"default_direction": "undirected"},
    {"undirected_min_minutes": 0, "default_direction": "undirected"},
]


@pytest.mark.parametrize("change", CHANGES)
async def test_the_preview_says_what_the_import_then_does(database: Database, change: dict[str, Any]) -> None:
    """The outcomes that the preview names are those that saving the rule and importing brings about."""
    taps = (
        "I {day} 06:00, I {day} 06:03, O {day} 15:00, I {day} 16:00, O {day} 16:00:05, I {day} 18:00, I {day} 18:03, I {day} 18:20,"
        " x {day} 20:00, x {day} 20:10"
    )
    async with database.transaction() as db:
        await shifts(db, taps)
    await imported(database)
    async with database.transaction() as db:
        before = await outcomes(db)
        settings = await read_settings(db)
        seen = await preview.preview(db, checked(settings, change, today=DAY), datetime.now(UTC))
        await write_settings(db, COMMAND_LINE, change)
        assert await outcomes(db) == before
    await imported(database)
    async with database.transaction() as db:
        after = await outcomes(db)
    changed = sorted((was, now) for (_, was), (_, now) in zip(before, after, strict=True) if was != now)
    assert sorted(move for move in seen.moves.elements() if move[0] != move[1]) == changed
    assert changed
    assert seen.is_complete


async def test_the_preview_looks_at_both_codes_of_a_person_and_at_no_former_one(database: Database) -> None:
    long_ago = DAY - timedelta(days=60)
    async with database.transaction() as db:
        await connect(db)
        person = await employ(db, "Ada")
        await mirror_person(db, "1", person)
        await mirror_person(db, "2", person)
        await punch(db, "1", f"I {DAY} 08:00, I {long_ago} 08:00, I {long_ago} 08:20")
        await punch(db, "2", f"I {DAY} 08:20")
    await imported(database)
    async with database.transaction() as db:
        settings = await read_settings(db)
        seen = await preview.preview(db, checked(settings, {"double_tap_minutes": 30}, today=DAY), datetime.now(UTC))
    assert (seen.people, seen.punches) == (1, 2)
    assert dict(seen.moves) == {("only_one_punch", "double_tap"): 1}


@pytest.mark.usefixtures("alice")
async def test_the_preview_ends_in_time_and_says_how_far_it_came(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MOST_PUNCHES", 6)
    async with database.transaction() as db:
        await shifts(db, "I {day} 08:00, I {day} 08:20, O {day} 17:00", people=3)
    async with database.transaction() as db:
        after = checked(await read_settings(db), {"double_tap_minutes": 30}, today=DAY)
        seen = await preview.preview(db, after, datetime.now(UTC), seconds=0)
    assert (seen.looked_at, seen.people, seen.is_complete) == (2, 3, False)


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [({}, []), ({"a": 9}, [["a"]]), ({"a": 9, "b": 2, "c": 3, "d": 1}, [["a"], ["b", "c"], ["d"]])],
)
def test_the_preview_looks_at_a_bounded_number_of_punches_between_two_looks_at_the_time(
    sizes: dict[str, int], batches: list[list[str]]
) -> None:
    assert list(preview.in_batches(sizes, 5)) == batches


async def test_a_shorter_retention_says_how_many_punches_go(parts: Parts, database: Database, alice: Browser) -> None:
    await connected(parts)
    old = DAY - timedelta(days=80)
    async with database.transaction() as db:
        await punch(db, "1", f"I {old} 08:00, O {old} 17:00, I {DAY} 08:00")
        await daily_totals.mark_stale(db, [old, DAY])
    asked = await alice.submit(URL, await posted(alice, retain_transactions_days="62"))
    assert "<strong>2</strong> punches would be removed" in asked.text
    assert "btn-danger" in asked.text
    wider = await alice.submit(URL, await posted(alice, retain_transactions_days="100"))
    assert wider.status_code == 303
    async with database.transaction() as db:
        assert len((await db.scalars(select(Punch.id))).all()) == 3


async def section_form(browser: Browser, key: str) -> dict[str, str]:
    """The form of one section as the page shows it."""
    page = (await browser.get(URL)).text
    form = page.partition(f'action="{URL}/sections/{key}#{key}"')[2].partition("</form>")[0]
    values = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    if key == "rules":
        values["default_direction"] = "by_code"
    ticked = set(re.findall(r'name="(\w+)" value="1" checked', form))
    return {name: value for name, value in values.items() if name not in FLAGS or name in ticked}


async def test_a_section_saves_its_own_settings_and_leads_back_to_it(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        await write_settings(db, COMMAND_LINE, {"silence_hours": 48, "show_photos": True})
    form = await section_form(alice, "schedule")
    saved = await alice.submit(f"{URL}/sections/schedule", {**form, "sync_interval_minutes": "5", "silence_hours": "7"})
    assert (saved.status_code, saved.headers["location"]) == (303, f"{URL}#schedule")
    assert "Saved: Schedule." in (await alice.get(URL)).text
    async with database.transaction() as db:
        found = await read_settings(db)
    assert (found.sync_interval_minutes, found.silence_hours, found.show_photos) == (5, 48, True)


async def test_a_wrong_section_is_said_at_its_field_and_the_others_stay(alice: Browser) -> None:
    form = await section_form(alice, "warnings")
    answer = await alice.submit(f"{URL}/sections/warnings", {**form, "silence_hours": "0"})
    assert answer.status_code == 422
    assert answer.text.count("error-summary") == 1
    card = answer.text.partition('id="warnings"')[2]
    assert 'id="f-silence_hours-error"' in card


async def test_a_section_that_is_none_is_not_found(alice: Browser) -> None:
    assert (await alice.submit(f"{URL}/sections/nonsense", {})).status_code == 404


async def test_a_rule_of_a_section_is_asked_about_and_then_saved(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        await shifts(db, "I {day} 08:00, I {day} 08:20", people=1)
    await imported(database)
    url = f"{URL}/sections/rules"
    asked = await alice.submit(url, {**await section_form(alice, "rules"), "double_tap_minutes": "30"})
    assert "<strong>1</strong>" in asked.text
    assert f'href="{URL}#rules"' in asked.text
    kept = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', asked.text))
    kept.pop("csrf_token")
    assert (await alice.submit(url, kept)).headers["location"] == f"{URL}#rules"
    async with database.transaction() as db:
        assert (await read_settings(db)).double_tap_minutes == 30


HTMX = {"HX-Request": "true"}


async def test_with_script_a_saved_section_comes_again_alone_with_what_it_holds_now(alice: Browser) -> None:
    form = await section_form(alice, "schedule")
    saved = await alice.submit(
        f"{URL}/sections/schedule", {**form, "sync_interval_minutes": "5"}, headers={**HTMX, "HX-Target": "schedule"}
    )
    assert (saved.status_code, saved.headers["hx-reswap"]) == (200, "outerHTML")
    assert saved.headers["hx-trigger"] == "muster:close"
    assert "<html" not in saved.text
    assert re.findall(r'action="/clock_settings/(\S+)"', saved.text) == ["sections/schedule#schedule"]
    assert 'name="sync_interval_minutes" value="5"' in saved.text
    assert "Saved: Schedule." in saved.text
    assert "Saved: Schedule." not in (await alice.get(URL)).text


async def test_with_script_a_wrong_section_comes_again_alone_with_its_error(alice: Browser) -> None:
    form = await section_form(alice, "warnings")
    answer = await alice.submit(f"{URL}/sections/warnings", {**form, "silence_hours": "0"}, headers=HTMX)
    assert answer.status_code == 422
    assert "<html" not in answer.text
    assert 'id="f-silence_hours-error"' in answer.text


async def test_with_script_a_rule_is_asked_about_in_the_dialog_and_its_section_comes_again(
    database: Database, alice: Browser
) -> None:
    async with database.transaction() as db:
        await shifts(db, "I {day} 08:00, I {day} 08:20", people=1)
    await imported(database)
    url, form = f"{URL}/sections/rules", {**await section_form(alice, "rules"), "double_tap_minutes": "30"}
    asked = await alice.submit(url, form, headers=HTMX)
    assert (asked.headers["hx-retarget"], asked.headers["hx-reswap"]) == ("#dialog", "innerHTML")
    assert 'hx-target="[aria-labelledby=rules]"' in asked.text
    assert "<h2" in asked.text
    kept = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', asked.text))
    kept.pop("csrf_token")
    saved = await alice.submit(url, kept, headers=HTMX)
    assert 'name="double_tap_minutes" value="30"' in saved.text
    # How far the import is with the change stands above the sections.
    assert 'id="changes" hx-swap-oob="true"' in saved.text


async def test_with_script_a_saved_connection_comes_again_with_its_test_and_its_health(alice: Browser) -> None:
    saved = await alice.submit(f"{URL}/connection", server("http://127.0.0.1:1", username="other"), headers=HTMX)
    assert saved.status_code == 200
    assert "<html" not in saved.text
    assert 'value="other"' in saved.text
    assert "Test the connection" in saved.text
    assert 'id="health" class="mb-3" hx-swap-oob="true"' in saved.text
    refused = await alice.submit(f"{URL}/connection", server("", username="other"), headers=HTMX)
    assert refused.status_code == 422
    assert 'id="f-base_url-error"' in refused.text


async def test_the_unit_of_a_number_is_read_aloud_with_its_field(alice: Browser) -> None:
    page = (await alice.get(URL)).text
    for name, unit in (
        ("sync_interval_minutes", "minutes"),
        ("run_budget_seconds", "seconds"),
        ("silence_hours", "hours"),
    ):
        field = re.search(rf'<input[^>]*id="f-{name}"[^>]*aria-describedby="([^"]+)"', page)
        assert field, name
        told = [re.search(rf'id="{one}">([^<]+)<', page) for one in field[1].split()]
        assert unit in [one and one[1] for one in told]


async def test_no_browser_puts_the_password_of_muster_into_the_field_of_the_servers(
    parts: Parts, alice: Browser
) -> None:
    field = re.compile(r'name="password"\s+autocomplete="new-password"')
    assert field.search((await alice.get("/clock_settings/setup")).text)
    await connected(parts)
    assert field.search((await alice.get(URL)).text)
