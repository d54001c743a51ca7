"""The first set-up: connect, test, first sync, people; and what the clock's pages show until then."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest
from sqlalchemy import select, update

from app.accounts.audit import SYSTEM
from app.accounts.models import Role
from app.clock.bindings import actions as bindings
from app.clock.bindings import setup_people
from app.clock.models import Binding, Connection, Setting, SyncRun, ZoneChange
from app.clock.sync import run as sync
from app.clock.sync import run_rows, when_due
from app.db.session import Database
from app.host.models import Employee
from app.parts import Parts
from app.simulator import PASSWORD, USERNAME, build_world, create_simulator, serving
from tests.clock.mirrored import employ, mirror_person
from tests.clock.sync_rows import connected, run
from tests.conftest import Browser, CommandLine, SignIn

URL = "/clock_settings/setup"


def heading(text: str) -> str:
    return text.split('<h2 id="h-step">')[1].split("<", maxsplit=1)[0]


@pytest.mark.parametrize("url", ["/clock", "/clock_sync", "/clock_employees", "/clock_transactions"])
async def test_pages_show_the_way_to_it_in_place_of_empty_tables(alice: Browser, url: str) -> None:
    answer = await alice.get(url)
    assert answer.status_code == 200
    assert "/clock_settings/setup" in answer.text or "/clock_settings" in answer.text.split("<main")[1]


async def test_the_four_steps_lead_from_nothing_to_employees(parts: Parts, database: Database, alice: Browser) -> None:
    world = build_world(7, 8, 5, 2, datetime.now(UTC), "Europe/Berlin")
    async with serving(create_simulator(world)) as address:
        assert heading((await alice.get(URL)).text) == "Connect"
        form = {"base_url": address, "profile": "cloud", "username": USERNAME, "timezone": "Europe/Berlin"}
        assert (await alice.submit(f"{URL}/connect", {**form, "password": PASSWORD})).headers["location"] == URL
        assert heading((await alice.get(URL)).text) == "Test"
        tested = (await alice.submit(f"{URL}/test")).text
        assert heading(tested) == "Test"
        assert tested.count('class="step-done"') >= 5
        assert 'href="/clock_settings/setup" data-next>Continue to the first sync' in tested
        assert tested.split("<main")[1].count("btn-primary") == 1  # testing again stands back
        assert tested.count('id="test-button"') == 1
        assert 'href="/clock_settings/setup">Continue the set-up' in (await alice.get("/clock")).text
        assert "127.0.0.1 is an address: there is no name to look up." in tested
        first_sync = (await alice.get(URL)).text
        assert heading(first_sync) == "First sync"
        # A day in words, as on every page.
        assert re.search(
            r"then history from [A-Z][a-z]{2} \d+ [A-Z][a-z]{2}( \d{4})? on\.", " ".join(first_sync.split())
        )
        started = await alice.submit("/clock_sync/start", {"back": URL})
        assert started.headers["location"] == URL
        waiting = (await alice.get(URL)).text
        assert "Waiting for a worker" in waiting
        assert "back=setup" in waiting
        async with database.transaction() as db:
            number = (await db.scalars(select(SyncRun.id))).one()
        await sync.run(parts, "main", number)
    assert "Continue the set-up" not in (await alice.get("/clock")).text
    done = (await alice.get(URL)).text
    assert heading(done) == "People"
    # The step is read aloud where it changes: it stays as the part beneath replaces itself when the run is over.
    assert '<p class="text-secondary" id="setup-step" role="status">Step 4 of 4: People</p>' in done
    assert "setup-step" not in done.split('id="sync-page"')[1]
    over = (await alice.get(f"/clock_sync/now/{number}?back=setup")).text
    assert 'hx-select="#sync-page" hx-select-oob="#setup-step:innerHTML"' in over
    assert "Set-up: 3 of 4 steps done" in done
    assert "The time clock lists <strong>8</strong> people. Muster has <strong>0</strong> employees." in " ".join(
        done.split()
    )
    [action] = [one for one in re.findall(r'action="([^"]+)"', done) if "bulk" in one]
    asked = (await alice.submit(unescape(action), {"action": "add", "all": "1"})).text
    assert "8 people are added." in asked
    agreed = {"action": "add", "all": "1", "confirmed": "1", "number": "8"}
    assert (await alice.submit(unescape(action), agreed)).status_code == 303
    done = (await alice.get(URL)).text
    assert "Muster has <strong>8</strong>" in done
    assert "The set-up is done." in done
    assert "Set-up: 4 of 4 steps done" in done
    assert "All steps are done" in done
    assert 'class="step-current"' not in done


async def test_zones_that_mean_no_place_are_not_offered_but_kept_where_one_is_saved(
    parts: Parts, database: Database, alice: Browser
) -> None:
    odd = [f'value="{name}"' for name in ("Factory", "localtime")]
    page = (await alice.get(URL)).text
    assert 'value="Europe/Berlin"' in page
    assert not [one for one in odd if one in page]
    await connected(parts)
    async with database.transaction() as db:
        await db.execute(update(Connection).values(timezone="localtime"))
    assert 'value="localtime" selected' in (await alice.get("/clock_settings")).text


async def test_the_schedule_begins_only_after_a_good_test(parts: Parts, database: Database, alice: Browser) -> None:
    async def is_due() -> bool:
        async with database.transaction() as db:
            return (await when_due.turn(db, datetime.now(UTC))).is_due

    world = build_world(7, 8, 5, 2, datetime.now(UTC), "Europe/Berlin")
    form = {"base_url": "http://127.0.0.1:1", "profile": "cloud", "username": USERNAME, "timezone": "Europe/Berlin"}
    await alice.submit(f"{URL}/connect", {**form, "password": PASSWORD})
    assert not await is_due()
    center = (await alice.get("/clock_sync")).text
    assert "after a good test" in center
    assert 'href="/clock_settings#test"' in center
    assert "The first run starts by itself after a good test." in center
    assert "After a good test" in (await alice.get("/clock")).text
    await alice.submit(f"{URL}/test")
    assert not await is_due()
    async with serving(create_simulator(world)) as address:
        await alice.submit(f"{URL}/connect", {**form, "base_url": address, "password": PASSWORD})
        assert not await is_due()
        await alice.submit(f"{URL}/test")
    assert await is_due()
    assert "after a good test" not in (await alice.get("/clock_sync")).text
    await alice.submit(f"{URL}/connect", {**form, "password": PASSWORD})
    assert await is_due()  # it worked before


async def test_a_connection_that_a_command_saved_needs_no_test(
    muster: CommandLine, database: Database, alice: Browser
) -> None:
    form = {"base_url": "http://127.0.0.1:1", "profile": "cloud", "username": USERNAME, "timezone": "UTC"}
    await alice.submit(f"{URL}/connect", {**form, "password": PASSWORD})
    given = ("--username", USERNAME, "--profile", "cloud", "--timezone", "UTC", "--password-stdin", "--no-test")
    await muster("clock:connect", "http://127.0.0.1:1", *given, stdin=PASSWORD)
    async with database.transaction() as db:
        assert (await when_due.turn(db, datetime.now(UTC))).is_due


async def test_a_wrong_form_stays_at_its_step_with_what_was_typed(database: Database, alice: Browser) -> None:
    answer = await alice.submit(f"{URL}/connect", {"base_url": "nonsense", "username": "Zoë", "timezone": "UTC"})
    assert (answer.status_code, heading(answer.text)) == (422, "Connect")
    assert 'value="nonsense"' in answer.text
    assert 'value="Zoë"' in answer.text
    async with database.transaction() as db:
        assert await db.scalar(select(Connection.id)) is None


async def test_a_failed_test_does_not_continue(parts: Parts, alice: Browser) -> None:
    await connected(parts, status="unverified")
    text = (await alice.submit(f"{URL}/test")).text
    assert "TC-NET" in text
    assert "Continue to the first sync" not in text
    assert heading((await alice.get(URL)).text) == "Test"


async def test_one_may_go_back_but_not_ahead(parts: Parts, alice: Browser) -> None:
    await connected(parts, status="unverified")
    assert heading((await alice.get(f"{URL}?step=1")).text) == "Connect"
    assert heading((await alice.get(f"{URL}?step=3")).text) == "Test"
    assert heading((await alice.get(f"{URL}?step=x")).text) == "Test"


async def test_a_failed_first_sync_says_what_to_do_and_offers_another(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "failed", error_code="TC-REMOTE", error_message="The server failed.")
    text = (await alice.get(URL)).text
    assert heading(text) == "First sync"
    assert "TC-REMOTE" in text
    assert "Start the first sync" in text


@pytest.mark.parametrize("status", ["succeeded", "partial", "truncated"])
@pytest.mark.parametrize("later", ["queued", "failed"])
async def test_once_a_sync_has_read_something_nothing_leads_back_to_the_first_one(
    parts: Parts, database: Database, alice: Browser, status: str, later: str
) -> None:
    """Though no instant is complete: a run ended early, or the zone changes."""
    await connected(parts, tested_at=datetime.now(UTC))
    assert "Continue the set-up" in (await alice.get("/clock")).text
    async with database.transaction() as db:
        await run(db, status)
        db.add(ZoneChange(generation=2, old_zone="UTC", zone="Asia/Tokyo", kept="instants"))
        await run(db, later)
    assert "Continue the set-up" not in (await alice.get("/clock")).text
    assert heading((await alice.get(URL)).text) == "People"


async def test_a_run_that_was_stopped_before_it_began_has_read_nothing(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "truncated", started_at=None)
    assert "Continue the set-up" in (await alice.get("/clock")).text
    assert heading((await alice.get(URL)).text) == "First sync"


def asks_for_the_run(text: str) -> str:
    [url] = re.findall(rf'hx-get="({URL}/first_run[^"]*)" hx-trigger="every 2s"', text)
    return unescape(url)


async def test_the_first_sync_that_starts_by_itself_is_noticed_and_shown(
    parts: Parts, database: Database, alice: Browser, bob: Browser
) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    page = (await alice.get(URL)).text
    assert "The first run starts by itself within a minute." in page
    url = asks_for_the_run(page)
    assert (await alice.fragment(url)).status_code == 204
    assert (await alice.get(url)).headers["location"] == URL
    assert (await bob.get(url)).status_code == 403
    async with database.transaction() as db:
        await run_rows.queue_run(db, "schedule", {}, SYSTEM)
    shown = (await alice.fragment(url)).text.split('id="sync-page"')[1]
    assert "Waiting for a worker" in shown
    assert "sse-connect" in shown
    assert "Start the first sync" not in shown
    assert "first_run" not in shown


async def test_after_a_failed_first_run_the_next_one_is_noticed(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "failed")
    url = asks_for_the_run((await alice.get(URL)).text)
    assert (await alice.fragment(url)).status_code == 204
    async with database.transaction() as db:
        await run(db, "running")
    assert "Start the first sync" not in (await alice.fragment(url)).text


async def test_pressing_start_after_the_first_sync_has_ended_starts_no_second_one(
    parts: Parts, database: Database, alice: Browser
) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "succeeded")
    await alice.submit("/clock_sync/start", {"back": URL, "first": "1"})
    async with database.transaction() as db:
        assert len((await db.scalars(select(SyncRun))).all()) == 1
    step_3 = (await alice.get(f"{URL}?step=3")).text
    assert heading(step_3) == "First sync"
    assert "Start the first sync" not in step_3
    assert ">Continue to people</a>" in step_3


async def test_strangers_sign_in_and_operators_are_refused(visitor: Browser, sign_in: SignIn) -> None:
    bob = await sign_in("bob")
    assert (await visitor.get(URL)).headers["location"].startswith("/sign-in")
    assert (await bob.get(URL)).status_code == 403
    for url in (f"{URL}/connect", f"{URL}/test"):
        assert (await bob.submit(url)).status_code == 403
    assert "/clock_settings/setup" not in (await bob.get("/clock")).text


async def test_another_workspace_begins_at_its_own_first_step(parts: Parts, alice: Browser, eve: Browser) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    assert heading((await eve.get(URL)).text) == "Connect"
    assert (await eve.submit(f"{URL}/test")).status_code == 404
    assert heading((await alice.get(URL)).text) == "First sync"


async def test_the_last_step_names_the_rights_that_adding_takes(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "succeeded")
        await mirror_person(db, "100", state="not_found")
    async with database.shared_transaction() as db:
        await db.execute(update(Role).where(Role.name == "Operator").values(permissions=["clock.settings"]))
    text = (await bob.get(URL)).text
    assert heading(text) == "People"
    assert "Keep people" in text
    assert "/clock_employees/bulk" not in text


async def test_the_last_step_leads_with_the_suggestions_and_adds_only_who_is_not_found(
    parts: Parts, database: Database, alice: Browser
) -> None:
    """Adding a person for whom an employee is suggested would make that employee twice."""
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "succeeded")
        await employ(db, "Ben Okri", "P-1")
        for code, name in (("700", "Okri, Ben"), ("701", "Cleo Marsh"), ("702", "Dora Lind")):
            await mirror_person(db, code, full_name=name, seen=1)
        await bindings.match_all(db)
        await mirror_person(db, "703", full_name="Cleared by hand", seen=1, state="unbound")
        await db.execute(update(Binding).where(Binding.emp_code == "703").values(cleared=True))
    page = (await alice.get(URL)).text
    assert "1 code is suggested</a>" in " ".join(page.split())
    assert "2 codes of the clock have no employee here yet." in " ".join(page.split())
    forms = re.findall(r'<form method="post" action="(/clock_employees/bulk[^"]*)".*?</form>', page, re.DOTALL)
    assert forms == ["/clock_employees/bulk?state=suggested", "/clock_employees/bulk?state=not_found"]
    accepting, adding = re.findall(
        r'<button class="btn([^"]*)" type="submit">(?:<svg.*?</svg>)?([^<]+)…', page, re.DOTALL
    )
    assert accepting == (" btn-primary", "Accept 1 suggestion")
    assert adding == ("", "Add 2 people")
    await alice.submit(forms[1], {"action": "add", "all": "1", "confirmed": "1", "number": "2"})
    async with database.transaction() as db:
        assert set(await db.scalars(select(Employee.id_number))) == {"P-1", "701", "702"}
    page = (await alice.get(URL)).text
    assert "The set-up is done." not in page
    assert "no employee here yet" not in page
    await alice.submit(forms[0], {"action": "accept", "all": "1", "confirmed": "1", "number": "1"})
    assert "The set-up is done." in (await alice.get(URL)).text


def left_in(page: str) -> dict[str, str]:
    """What the last step says is left, with the address of the list that shows it."""
    text = unescape(" ".join(page.split()))
    return dict(re.findall(r'<p class="text-secondary">([^<:]+): <a href="([^"]+)">see (?:it|them)</a></p>', text))


@pytest.fixture(params=["counted one by one", "counted in the database"])
def counting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database alone counts more codes than a request adds by itself."""
    if request.param == "counted in the database":
        monkeypatch.setattr(setup_people, "INLINE_LIMIT", 0)


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("zeros", [False, True])
async def test_the_last_step_offers_to_add_only_who_can_be_added(
    parts: Parts, database: Database, alice: Browser, zeros: bool
) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "succeeded")
        db.add(Setting(name="ignore_leading_zeros", value=zeros))
        await employ(db, "Ina Gone", "A-1", active=False)
        await employ(db, "Del Eted", "45", deleted_at=datetime.now(UTC))
        for code in ("a-1", "0045", "702", "703"):
            await mirror_person(db, code, state="not_found")
    taken = ["a-1", "0045"] if zeros else ["a-1"]
    page = (await alice.get(URL)).text
    assert f"Add {4 - len(taken)} people…" in page
    one = "1 code has an ID number that an employee has already"
    many = "2 codes have an ID number that an employee has already"
    address = "/clock_employees?state=not_found&number_taken=1"
    assert left_in(page) == {many if zeros else one: address}
    shown = (await alice.get(address)).text
    assert [code for code in ("a-1", "0045", "702", "703") if f">{code}</a>" in shown] == taken
    agreed = {"action": "add", "all": "1", "confirmed": "1", "number": "4"}
    await alice.submit("/clock_employees/bulk?state=not_found", agreed)
    page = (await alice.get(URL)).text
    assert "Step 4 of 4" in page
    assert "people…" not in page
    assert left_in(page) == {many if zeros else one: address}
    assert ">Later</a>" in page


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("zeros", [False, True])
async def test_codes_that_are_the_same_id_number_are_not_offered(
    parts: Parts, database: Database, alice: Browser, zeros: bool
) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "succeeded")
        db.add(Setting(name="ignore_leading_zeros", value=zeros))
        await employ(db, "Ben Okri", "45")
        for code in ("x7", "X7", "007", "7", "70", "45", " 45"):
            await mirror_person(db, code, state="not_found")
        await mirror_person(db, "070", state="suggested")
    page = (await alice.get(URL)).text
    twins = 5 if zeros else 2
    assert left_in(page) == {
        "2 codes have an ID number that an employee has already": "/clock_employees?state=not_found&number_taken=1",
        f"{twins} codes are the same ID number as another code": "/clock_employees?state=not_found",
    }
    assert ("no employee here yet" in page) is not zeros


async def test_the_set_up_is_done_when_no_code_needs_a_person(parts: Parts, database: Database, alice: Browser) -> None:
    await connected(parts, tested_at=datetime.now(UTC))
    async with database.transaction() as db:
        await run(db, "succeeded")
        states = ("conflict", "conflict", "unbound", "disabled", "disabled", "ignored", "not_found", "not_found")
        for code, state in zip(("1", "2", "3", "4", "5", "6", "x7", "X7"), states, strict=True):
            await mirror_person(db, code, state=state)
    page = (await alice.get(URL)).text
    assert "Step 4 of 4" in page
    assert left_in(page) == {
        "2 codes are the same ID number as another code": "/clock_employees?state=not_found",
        "2 codes are in conflict": "/clock_employees?state=conflict",
        "1 code is not decided": "/clock_employees?state=unbound",
    }
    async with database.transaction() as db:
        await db.execute(update(Binding).where(Binding.state == "unbound").values(cleared=True))
        await db.execute(update(Binding).where(Binding.state.in_(["conflict", "not_found"])).values(state="ignored"))
    page = " ".join((await alice.get(URL)).text.split())
    assert "All steps are done" in page
    assert (
        "2 codes are disabled on the server and have no employee:"
        ' <a href="/clock_employees?state=disabled">see them</a>.'
        " Each other code has an employee, or a person decided about it. The set-up is done." in page
    )


async def test_without_script_a_zone_is_chosen_and_none_is_taken_for_granted(alice: Browser) -> None:
    page = (await alice.get(URL)).text
    assert '<option value="">Choose a zone</option>' in page
    assert "data-browser-zone" in page
    form = {"base_url": "https://clock.example.com", "profile": "cloud", "username": USERNAME, "password": "p"}
    answer = await alice.submit(f"{URL}/connect", {**form, "timezone": ""})
    assert answer.status_code == 422
    assert "Time zone" in answer.text


async def test_plain_http_is_amber_with_the_reason(parts: Parts, alice: Browser) -> None:
    await connected(parts, base_url="http://clock.example.com")
    for url in ("/clock_settings", f"{URL}?step=1"):
        page = (await alice.get(url)).text
        assert "Not encrypted" in page
        assert "plain text" in page
    async with parts.database.transaction() as db:
        await db.execute(update(Connection).values(base_url="https://clock.example.com"))
    assert "Not encrypted" not in (await alice.get("/clock_settings")).text


async def test_a_failed_test_advises_what_helps_before_any_run(alice: Browser) -> None:
    form = {"base_url": "http://127.0.0.1:1", "profile": "cloud", "username": USERNAME, "timezone": "Europe/Berlin"}
    await alice.submit(f"{URL}/connect", {**form, "password": PASSWORD})
    tested = (await alice.submit(f"{URL}/test")).text
    assert "TC-NET" in tested
    assert "Check the address, the server and the firewall, then test again." in tested
    assert "Rows that were read" not in tested
    assert "in Settings" not in tested.split('id="test-steps"')[1].split("</section>")[0]
