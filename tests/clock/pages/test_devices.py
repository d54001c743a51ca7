"""The page `/clock_devices` and what is set there: who may, what it says before, and which punches are judged again."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import insert, select, text, update

from app.clock.importing.batch import import_batch
from app.clock.mirror import devices
from app.clock.mirror.devices import DeviceChange
from app.clock.models import Area, DailyTotal, Device
from app.dates import day_words, local_time
from app.db.session import Database
from app.errors import Invalid, NotFound
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, outcomes, punch
from tests.clock.resolved import ada_works, import_all
from tests.conftest import Browser, SignIn
from tests.host.staff import ALICE, acts_on

ACTS = ("direction", "kind", "remarks")


@pytest.fixture
async def gate(database: Database) -> int:
    """The id of the main gate: 20 punches on the server, 12 of them here, its clock 90 s fast.
    A side door is beside it."""
    today = datetime.now(UTC).date()
    async with database.transaction() as db:
        await connect(db)
        await db.execute(insert(Area).values(code="A1", name="North wing"))
        seen = {"last_activity_at": datetime.now(UTC) - timedelta(minutes=5), "state": "online", "area_code": "A1"}
        await mirror_terminal(
            db, "T1", alias="Main gate", transaction_count=20, clock_skew_seconds=-90, user_count=1234,
            terminal_tz="8", **seen
        )  # fmt: skip
        await mirror_terminal(db, "T2", alias="Side door", remote_attendance=False, state="offline")
        days = [
            {"local_date": today - timedelta(days=n), "dimension": "terminal", "key": "T1", "total": 4}
            for n in range(3)
        ]
        await db.execute(insert(DailyTotal), days)
        await db.execute(text("UPDATE clock_analytics_daily SET imported = 1"))
        return await id_of(db, "T1")


async def id_of(db: object, serial: str) -> int:
    return (await db.scalar(select(Device.id).where(Device.sn == serial))) or 0  # type: ignore[attr-defined]


async def test_the_list_shows_how_each_terminal_is_doing(gate: int, bob: Browser) -> None:
    answer = await bob.get("/clock_devices")
    assert answer.status_code == 200
    for words in (
        "Main gate",
        "North wing",
        "Online",
        "1 min fast",
        ">UTC+8</span>",
        "12 punches in 14 days, at most 4 a day",
        '<td data-label="Backlog" class="num">8</td>',
        "Door reader (server)",
    ):
        assert words in answer.text


async def test_what_the_server_counts_and_the_last_activity_wait_in_the_column_chooser(gate: int, bob: Browser) -> None:
    answer = await bob.get("/clock_devices")
    waiting = ("1,234", "5 min ago", "12 of them were mirrored")
    assert not [words for words in waiting if words in answer.text]
    await bob.submit(
        "/preferences/columns/devices", {"columns": ["terminal", "users", "last_activity", "transactions"]}
    )
    answer = await bob.get("/clock_devices")
    assert not [words for words in waiting if words not in answer.text]


async def test_strangers_are_sent_to_sign_in(gate: int, visitor: Browser) -> None:
    for url in ("/clock_devices", f"/clock_devices/{gate}"):
        assert (await visitor.get(url)).headers["location"].startswith("/sign-in")


async def test_viewers_see_and_do_not_act_and_others_do_neither(gate: int, vera: Browser, sign_in: SignIn) -> None:
    for url in ("/clock_devices", f"/clock_devices/{gate}"):
        seen = await vera.get(url)
        assert seen.status_code == 200
        assert "<select" not in seen.text.partition("<tbody>")[2]
        assert (await (await sign_in("nora")).get(url)).status_code == 403
    for act in ACTS:
        assert (await vera.submit(f"/clock_devices/{gate}/{act}", {act: "in"})).status_code == 403


async def test_terminals_of_another_workspace_do_not_exist_here(gate: int, eve: Browser) -> None:
    assert "Main gate" not in (await eve.get("/clock_devices")).text
    assert (await eve.get(f"/clock_devices/{gate}")).status_code == 404
    for act in ACTS:
        assert (await eve.submit(f"/clock_devices/{gate}/{act}", {act: "in"})).status_code == 404


async def test_htmx_gets_the_block(gate: int, bob: Browser) -> None:
    for url, word in (("/clock_devices", 'id="devices-results"'), (f"/clock_devices/{gate}", "drawer-head")):
        answer = await bob.fragment(url)
        assert word in answer.text
        assert "<html" not in answer.text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"T1", "T2"}),
        ("q=gate", {"T1"}),
        ("q=t2", {"T2"}),
        ("state=offline", {"T2"}),
        ("area=A1", {"T1"}),
        ("kind=access", {"T2"}),
        ("direction=by_code", {"T1", "T2"}),
        ("direction=in", set()),
        ("skew=1", {"T1"}),
        ("absent=1", set()),
    ],
)
async def test_filters_narrow_the_list_and_its_export_alike(
    gate: int, bob: Browser, query: str, expected: set[str]
) -> None:
    listed = (await bob.get(f"/clock_devices?{query}")).text
    assert {sn for sn in ("T1", "T2") if f'<span class="sub mono">{sn}</span>' in listed} == expected
    exported = [json.loads(line) for line in (await bob.get(f"/clock_devices?export=jsonl&{query}")).text.splitlines()]
    assert {row["terminal"] for row in exported} == {{"T1": "Main gate", "T2": "Side door"}[sn] for sn in expected}


async def test_an_export_says_the_numbers(gate: int, bob: Browser) -> None:
    (row, _) = [json.loads(line) for line in (await bob.get("/clock_devices?export=jsonl")).text.splitlines()]
    assert (row["backlog"], row["skew"], row["kind"], row["direction"]) == (8, -90, "attendance", "by_code")
    assert row["days"] == [0] * 11 + [4, 4, 4]


@pytest.mark.parametrize("sort", ["terminal", "-state", "skew", "-transactions", "area", "kind", "-last_activity"])
async def test_a_page_costs_three_selects_however_it_is_sorted(
    gate: int, bob: Browser, selects: list[str], sort: str
) -> None:
    assert (await bob.get(f"/clock_devices?sort={sort}")).status_code == 200
    assert 1 < len(selects) <= 3


async def test_an_empty_list_says_what_to_do_next(database: Database, bob: Browser) -> None:
    assert "No time clock is connected yet" in (await bob.get("/clock_devices")).text
    async with database.transaction() as db:
        await connect(db)
    assert "No terminals yet" in (await bob.get("/clock_devices")).text


async def test_the_drawer_names_the_zone_of_its_times(database: Database, gate: int, bob: Browser) -> None:
    async with database.transaction() as db:
        found = (await db.execute(select(Device.last_activity_at).where(Device.id == gate))).scalar_one()
    text_ = (await bob.get(f"/clock_devices/{gate}")).text
    assert f'title="{found:%Y-%m-%d %H:%M:%S} UTC">{local_time(found, datetime.now(UTC).date())}</time></dd>' in text_
    assert text_.count("Times in UTC<") == 1


async def test_the_drawer_shows_three_weeks_and_what_was_set(database: Database, gate: int, bob: Browser) -> None:
    async with database.transaction() as db:
        await devices.set_direction(db, ALICE, "T1", "in")
    text_ = (await bob.get(f"/clock_devices/{gate}")).text
    today = datetime.now(UTC).date()
    assert f"{day_words(today, today)}: 4 punches, 1 imported" in text_
    assert f"{day_words(today - timedelta(days=20), today)}: 0 punches" in text_
    assert "Every punch is a clock-in" in text_
    assert "Alice Ahn" in text_
    assert "8 are not here" in text_


async def test_a_direction_says_the_number_before_it_judges_again(database: Database, bob: Browser) -> None:
    await ada_works(database, "x 08:00, x 17:00, I Tue 08:00, O Tue 17:00")
    async with database.transaction() as db:
        await db.execute(update(Device).values(alias="Main gate"))
        url = f"/clock_devices/{await id_of(db, 'T1')}/direction"
    asked = await bob.submit(url, {"direction": "undirected"}, headers={"HX-Request": "true"})
    assert "judge 2 punches again" in asked.text
    assert "Set the direction of Main gate to “Undirected”?" in asked.text
    assert "<html" not in asked.text
    async with database.transaction() as db:
        assert await db.scalar(select(Device.direction)) is None
    form = {"direction": "undirected", "confirmed": "1", "number": "2", "back": "/clock_devices?q=T1"}
    done = await bob.submit(url, form)
    assert (done.status_code, done.headers["location"]) == (303, "/clock_devices?q=T1")
    said = "The direction of Main gate is “Undirected” now. To be judged again: 2 punches."
    assert said in (await bob.get("/clock_devices")).text
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"imported"}


async def test_a_number_that_changed_meanwhile_is_asked_about_again(database: Database, bob: Browser) -> None:
    await ada_works(database, "x 08:00")
    async with database.transaction() as db:
        url = f"/clock_devices/{await id_of(db, 'T1')}/direction"
    answer = await bob.submit(url, {"direction": "in", "confirmed": "1", "number": "9"})
    assert "judge 1 punch again" in answer.text
    async with database.transaction() as db:
        assert await db.scalar(select(Device.direction)) is None


async def test_a_terminal_without_punches_is_set_at_once(gate: int, bob: Browser) -> None:
    answer = await bob.submit(f"/clock_devices/{gate}/kind", {"kind": "access"}, headers={"HX-Request": "true"})
    assert answer.headers["HX-Redirect"] == "/clock_devices"
    assert "The kind of Main gate is “Door reader” now." in (await bob.get("/clock_devices")).text


async def test_an_unknown_word_is_refused(database: Database, gate: int, bob: Browser) -> None:
    for act, word in (("direction", "sideways"), ("kind", "window"), ("remarks", "x" * 1001)):
        assert (await bob.submit(f"/clock_devices/{gate}/{act}", {act: word})).status_code == 422
    async with database.transaction() as db:
        with pytest.raises(Invalid):
            await devices.set_direction(db, ALICE, "T1", "sideways")
        with pytest.raises(NotFound):
            await devices.set_kind(db, ALICE, "nowhere", "access")


async def test_remarks_are_kept_and_audited(database: Database, gate: int, bob: Browser) -> None:
    await bob.submit(f"/clock_devices/{gate}/remarks", {"remarks": " Battery <weak> "})
    text_ = (await bob.get("/clock_devices")).text
    assert "Battery &lt;weak&gt;" in text_
    async with database.transaction() as db:
        (entry,) = await acts_on(db, "terminal", "T1")
        assert (entry.act, entry.actor_name) == ("clock.device.remarks", "Bob Brandt")
        assert (entry.before, entry.after) == ({"remarks": None}, {"remarks": "Battery <weak>"})
    await bob.submit(f"/clock_devices/{gate}/remarks", {"remarks": ""})
    async with database.transaction() as db:
        assert await db.scalar(select(Device.remarks).where(Device.sn == "T1")) is None


async def test_saying_what_holds_already_judges_nothing(database: Database) -> None:
    await ada_works(database, "x 08:00, x 17:00")
    async with database.transaction() as db:
        assert await devices.set_direction(db, ALICE, "T1", None) == DeviceChange(changed=False)
        # By code is what the default says already: the word is kept, nothing is judged.
        assert await devices.set_direction(db, ALICE, "T1", "by_code") == DeviceChange(changed=True)
        assert await devices.set_kind(db, ALICE, "T1", "attendance") == DeviceChange(changed=True)
        assert await devices.set_kind(db, ALICE, "T1", "access") == DeviceChange(changed=True, judged_again=2)
        (*_, last) = await acts_on(db, "terminal", "T1")
        assert last.after == {"kind_mark": "access", "judged_again": 2}


async def test_what_stands_is_not_judged_again(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        assert await devices.judged_again(db, ["T1"], kind="access") == 0
        assert await devices.set_kind(db, ALICE, "T1", "access") == DeviceChange(changed=True)
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"imported"}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (partial(devices.set_direction, direction="in"), "only_one_punch"),
        (partial(devices.set_kind, kind="access"), "access_terminal"),
    ],
    ids=["direction", "kind"],
)
async def test_what_is_just_judged_for_the_first_time_follows_a_change_too(
    database: Database, change: Callable[..., Awaitable[DeviceChange]], word: str
) -> None:
    """An import has read what the terminal says, and has not committed yet."""
    async with database.transaction() as db:
        await connect(db)
        await mirror_terminal(db, "T1")
        await mirror_person(db, "100", await employ(db, "Ada"))
        await punch(db, "100", "x 08:00")
    async with database.transaction() as importing:
        await import_batch(importing, ["100"], FAR)
        async with database.transaction() as db:
            assert await change(db, ALICE, "T1") == DeviceChange(changed=True)
    async with database.transaction() as db:
        assert await outcomes(db) == [("08:00", "no_direction")]
    await import_all(database)
    async with database.transaction() as db:
        assert await outcomes(db) == [("08:00", word)]


async def test_only_the_terminals_own_punches_are_judged_again(database: Database) -> None:
    await ada_works(database, "x 08:00")
    async with database.transaction() as db:
        await mirror_person(db, "7", await employ(db, "Bea"))
        await punch(db, "7", "x 09:00", sn="T9")
        await mirror_terminal(db, "T9")
    await import_all(database)
    async with database.transaction() as db:
        assert await devices.judged_again(db, ["T9"], direction="in") == 1


async def chosen(database: Database, *serials: str) -> list[str]:
    async with database.transaction() as db:
        return [str(await id_of(db, serial)) for serial in serials]


async def test_a_bulk_act_says_the_punches_before_it_judges_them_again(database: Database, bob: Browser) -> None:
    await ada_works(database, "x 08:00, x 17:00")
    async with database.transaction() as db:
        await mirror_terminal(db, "T2", alias="Side door")
        await mirror_terminal(db, "T3")
        await punch(db, "ada", "x 09:00", sn="T2")
        await devices.set_direction(db, ALICE, "T3", "in")
    await import_all(database)
    form = {"action": "direction_in", "id": await chosen(database, "T1", "T2", "T3"), "back": "/clock_devices?q=t"}
    asked = await bob.submit("/clock_devices/bulk", form, headers={"HX-Request": "true"})
    for words in (
        "Set the direction of 2 terminals to “In”?",
        "Every punch is a clock-in",
        "<strong>3</strong> punches are judged again",
    ):
        assert words in asked.text
    assert "Set 2 terminals</button>" in asked.text
    assert "<html" not in asked.text
    agreed = {**form, "confirmed": "1", "number": "2"}
    for punches in ("2", ""):
        again = await bob.submit("/clock_devices/bulk", {**agreed, "punches": punches})
        assert "<strong>3</strong> punches" in again.text
    done = await bob.submit("/clock_devices/bulk", {**agreed, "punches": "3"})
    assert (done.status_code, done.headers["location"]) == (303, "/clock_devices?q=t")
    said = "The direction of 2 terminals is “In” now. To be judged again: 3 punches."
    assert said in (await bob.get("/clock_devices")).text
    async with database.transaction() as db:
        assert set(await db.scalars(select(Device.direction))) == {"in"}
        for serial, again in (("T1", 2), ("T2", 1)):
            (entry,) = await acts_on(db, "terminal", serial)
            assert (entry.act, entry.actor_name) == ("clock.device.direction", "Bob Brandt")
            assert (entry.before, entry.after) == ({"direction": None}, {"direction": "in", "judged_again": again})
    nothing = await bob.submit("/clock_devices/bulk", form)
    assert nothing.status_code == 409
    assert "The direction of these terminals is “In” already." in nothing.text


async def test_a_bulk_act_reaches_the_whole_filter_and_nothing_else(
    database: Database, gate: int, bob: Browser
) -> None:
    form = {"action": "kind_attendance", "all": "1"}
    asked = (await bob.submit("/clock_devices/bulk?kind=access", form)).text
    assert "Set the kind of 1 terminal to “Attendance”?" in asked
    assert "Their punches are not judged again." in asked
    assert "<html" in asked
    await bob.submit("/clock_devices/bulk?kind=access", {**form, "confirmed": "1", "number": "1", "punches": "0"})
    async with database.transaction() as db:
        marks = await db.execute(select(Device.sn, Device.kind_mark).order_by(Device.sn))
        assert [tuple(row) for row in marks] == [("T1", None), ("T2", "attendance")]


@pytest.mark.parametrize(("action", "value"), [
    ("direction_by_code", "by_code"), ("direction_in", "in"), ("direction_out", "out"), ("direction_undirected", "undirected"),
    ("direction_default", None), ("kind_attendance", "attendance"), ("kind_access", "access"), ("kind_default", None),
])  # fmt: skip
async def test_every_bulk_act_is_offered_and_sets_its_word(
    database: Database, gate: int, bob: Browser, action: str, value: str | None
) -> None:
    column = "direction" if action.startswith("direction") else "kind_mark"
    other = {"direction": "in" if value != "in" else "out", "kind_mark": "access" if value != "access" else None}[
        column
    ]
    async with database.transaction() as db:
        await db.execute(update(Device).values({column: other}))
    assert f'name="action" value="{action}"' in (await bob.get("/clock_devices")).text
    form = {"action": action, "all": "1", "confirmed": "1", "number": "2", "punches": "0"}
    assert (await bob.submit("/clock_devices/bulk", form)).status_code == 303
    async with database.transaction() as db:
        assert set(await db.scalars(select(getattr(Device, column)))) == {value}


async def test_a_bulk_act_needs_a_selection_and_a_word_that_it_knows(gate: int, bob: Browser) -> None:
    assert (await bob.submit("/clock_devices/bulk", {"action": "direction_in"})).status_code == 422
    for action in ("direction_sideways", "direction", ""):
        assert (await bob.submit("/clock_devices/bulk", {"action": action, "all": "1"})).status_code == 404


async def test_a_person_who_may_not_act_has_no_boxes(
    database: Database, gate: int, vera: Browser, eve: Browser
) -> None:
    assert "data-bulk" not in (await vera.get("/clock_devices")).text
    form = {"action": "direction_in", "id": str(gate), "confirmed": "1", "number": "1", "punches": "0"}
    assert (await vera.submit("/clock_devices/bulk", form)).status_code == 403
    assert (await eve.submit("/clock_devices/bulk", form)).status_code == 409
    async with database.transaction() as db:
        assert set(await db.scalars(select(Device.direction))) == {None}


async def test_punches_are_counted_up_to_a_bound_and_said_so(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ada_works(database, "x 08:00, x 12:00, x 17:00")
    async with database.transaction() as db:
        assert devices.punches(await devices.judged_again(db, ["T1"], direction="in")) == "3 punches"
        monkeypatch.setattr(devices, "MOST_COUNTED", 2)
        assert devices.punches(await devices.judged_again(db, ["T1"], direction="in")) == "2 or more punches"
