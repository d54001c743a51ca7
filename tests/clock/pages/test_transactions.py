"""The page `/clock_transactions`: what it shows, finds, exports and does, and who may."""

import html
import json
import re
from datetime import date, timedelta
from functools import partial
from typing import Any
from urllib.parse import unquote

import pytest
from sqlalchemy import func, select, text, update

from app.accounts import accounts, policies, roles
from app.accounts.audit import COMMAND_LINE, SYSTEM
from app.accounts.models import AuditEntry
from app.clock.bindings import actions as bindings
from app.clock.connection.shared_session import password_place
from app.clock.importing import import_due
from app.clock.models import Binding, Connection, Device, Punch
from app.clock.punches import daily_totals
from app.clock.punches.daily_totals import count_days
from app.clock.punches.punch_filter import PunchFilter
from app.clock.punches.queries import punch_page
from app.db.session import Database
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.models import AttendanceRecord
from app.parts import Parts
from app.secrets import Secret
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, outcomes, punch, records
from tests.conftest import Browser
from tests.markup import squeezed

HTMX = {"HX-Request": "true"}
POSTS = (
    "/clock_transactions/bulk",
    "/clock_transactions/1/retry",
    "/clock_transactions/1/keep",
    "/clock_transactions/1/settle",
    "/clock_transactions/1/unsettle",
    "/clock_transactions/1/use",
    "/clock_transactions/1/accept",
    "/clock_transactions/1/terminal",
)


@pytest.fixture
async def mill(database: Database) -> int:
    """Ada, bound to 100, with a day that was imported, a lone tap and a tap without direction;
    Bea's code 200 is not bound."""
    async with database.transaction() as db:
        await connect(db, "Europe/Berlin")
        await mirror_terminal(db, "T1", alias="Main gate")
        await mirror_terminal(db, "T2")
        ada = await employ(db, "Ada Lovelace", "100")
        await mirror_person(db, "100", ada, full_name="Lovelace Ada")
        await mirror_person(db, "200", state="conflict", full_name="Bea Byron")
        zone = "Europe/Berlin"
        await punch(db, "100", "I 08:00, O 17:00, I Tue 08:00, x Wed 09:00", zone=zone)
        await punch(db, "200", "I 08:30", zone=zone, sn="T2")
    await import_all(database)
    return ada


async def import_all(database: Database) -> None:
    await import_due.import_due(partial(database.transaction, "main"), now=FAR)


async def id_of(database: Database, local: str, code: str = "100") -> int:
    async with database.transaction() as db:
        found = await db.execute(select(Punch.id, Punch.punched_at_local).where(Punch.emp_code == code))
        return next(punch_id for punch_id, at in found if f"{at:%a %H:%M}" == local)


def shown(html: str) -> list[str]:
    """The outcomes of the rows, top down."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [part.partition('"')[0] for part in body.split('data-state="')[1:]]


async def test_the_list_shows_each_punch_with_its_label_and_says_more_on_hover(mill: int, bob: Browser) -> None:
    answer = await bob.get("/clock_transactions")
    assert answer.status_code == 200
    assert shown(answer.text) == ["no_direction", "only_one_punch", "imported", "not_bound", "imported"]
    for words in (
        "Mon 2 Mar",
        "2026-03-02 17:00:00 Europe/Berlin · 2026-03-02 16:00:00 UTC",
        "Unknown (255)",
        "Lovelace Ada",
        "Main gate",
        "Binding of code 200: Conflict",
        "The terminal&#39;s direction is by code",
        'title="Record ',
        "Times in Europe/Berlin",
    ):
        assert words in answer.text


async def test_strangers_are_sent_to_sign_in(mill: int, visitor: Browser) -> None:
    for url in ("/clock_transactions", "/clock_transactions/1", "/clock_transactions/1/photo"):
        assert (await visitor.get(url)).headers["location"].startswith("/sign-in")


async def test_viewers_see_and_do_not_act_and_others_do_neither(
    database: Database, mill: int, vera: Browser, sign_in: Any
) -> None:
    seen = await vera.get("/clock_transactions")
    assert seen.status_code == 200
    assert "data-bulk" not in seen.text
    drawer = await vera.get(f"/clock_transactions/{await id_of(database, 'Tue 08:00')}")
    assert drawer.status_code == 200
    assert "Retry</button>" not in drawer.text
    for url in POSTS:
        assert (await vera.submit(url)).status_code == 403
    nora = await sign_in("nora")
    for url in ("/clock_transactions", "/clock_transactions/1", "/clock_transactions/1/photo"):
        assert (await nora.get(url)).status_code == 403


async def test_punches_of_another_workspace_do_not_exist_here(database: Database, mill: int, eve: Browser) -> None:
    punch_id = await id_of(database, "Tue 08:00")
    assert "Lovelace" not in (await eve.get("/clock_transactions")).text
    assert (await eve.get(f"/clock_transactions/{punch_id}")).status_code == 404
    for act in ("retry", "keep", "settle", "unsettle", "use"):
        assert (await eve.submit(f"/clock_transactions/{punch_id}/{act}")).status_code == 404


async def test_htmx_gets_the_block(database: Database, mill: int, bob: Browser) -> None:
    for url, word in (
        ("/clock_transactions", 'id="transactions-results"'),
        (f"/clock_transactions/{await id_of(database, 'Tue 08:00')}", "drawer-head"),
    ):
        answer = await bob.fragment(url)
        assert word in answer.text
        assert "<html" not in answer.text


async def test_a_module_that_is_switched_off_is_not_there(database: Database, mill: int, alice: Browser) -> None:
    async with database.transaction() as db:
        await policies.write(db, "main", {"module_clock": False})
    assert (await alice.get("/clock_transactions")).status_code == 404


FOUND = [
    ("q=lovelace", 4),
    ("q=200", 1),
    ("q=unknown", 0),
    ("from=2026-03-03&to=2026-03-03", 1),
    ("terminal=T2", 1),
    ("outcome=imported&outcome=not_bound", 3),
    ("outcome=unjudged", 0),
    ("group=good", 2),
    ("group=needs_person", 3),
    ("group=good&outcome=not_bound", 0),
    ("code=0", 3),
    ("code=unknown", 1),
    ("code=1&code=unknown", 2),
    ("emp_code=100", 4),
    ("emp_code=10", 0),
    ("emp_code=200&q=lovelace", 0),
    ("record=99999999", 0),
    ("record=nonsense", 0),
    ("late=open", 0),
    ("ignored=without", 5),
    ("ignored=only", 0),
    ("outcome=nonsense", 0),
    ("from=yesterday", 0),
]


async def test_filters_narrow_the_list_and_its_export_alike(mill: int, bob: Browser, subtests: pytest.Subtests) -> None:
    for query, expected in FOUND:
        with subtests.test(query):
            listed = await bob.get(f"/clock_transactions?{query}")
            exported = await bob.get(f"/clock_transactions?export=jsonl&{query}")
            assert listed.status_code == exported.status_code == 200
            assert len(shown(listed.text)) == len(exported.text.splitlines()) == expected


async def test_what_was_not_judged_yet_can_be_found(database: Database, mill: int, bob: Browser) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I Fri 08:00")
        await daily_totals.mark_stale(db, [date(2026, 3, 6)])
    answer = await bob.get("/clock_transactions?outcome=unjudged")
    assert shown(answer.text) == ["awaiting"]
    assert "Not judged yet" in answer.text


async def test_the_oldest_can_come_first(mill: int, bob: Browser) -> None:
    answer = await bob.get("/clock_transactions?sort=time")
    assert shown(answer.text) == ["imported", "not_bound", "imported", "only_one_punch", "no_direction"]


async def test_an_export_holds_the_chosen_columns_of_the_whole_filter(mill: int, bob: Browser) -> None:
    answer = await bob.get("/clock_transactions?export=csv&q=lovelace&sort=time")
    lines = answer.text.splitlines()
    assert lines[0] == "Local time,Employee,Code,Terminal,Punch,Verification,Imported"
    assert lines[1] == "2026-03-02T08:00:00,Lovelace Ada,100,Main gate,Check In,,Imported"
    assert len(lines) == 5


async def test_temperature_and_photo_show_only_when_switched_on(
    parts: Parts, database: Database, mill: int, bob: Browser
) -> None:
    async with database.transaction() as db:
        await db.execute(update(Punch).values(temperature=36.6, photo_ref="/photo/1"))
    url = f"/clock_transactions/{await id_of(database, 'Tue 08:00')}"
    for text_ in ((await bob.get("/clock_transactions")).text, (await bob.get(url)).text):
        assert "36.6" not in text_
        assert "/photo" not in text_
    assert "temperature" not in (await bob.get("/clock_transactions?export=jsonl")).text
    assert (await bob.get(f"{url}/photo")).status_code == 404
    async with database.transaction() as db:
        await db.execute(
            text(
                "INSERT INTO clock_settings (name, value) VALUES ('show_photos', 'true'), ('show_temperature', 'true')"
            )
        )
    for text_ in ((await bob.get("/clock_transactions")).text, (await bob.get(url)).text):
        assert "36.60 °C" in text_
        assert "/photo" in text_
    async with database.transaction() as db:
        sealed = parts.keys.seal(Secret("pass"), password_place("main"))
        await db.execute(update(Connection).values(password=sealed))
    # There is no server at this test's address.
    assert (await bob.get(f"{url}/photo")).status_code == 503


async def test_an_empty_list_says_what_to_do_next(database: Database, bob: Browser) -> None:
    assert "No time clock is connected yet" in (await bob.get("/clock_transactions")).text
    async with database.transaction() as db:
        await connect(db)
    assert "No punches yet" in (await bob.get("/clock_transactions")).text
    assert "Nothing matches these filters" in (await bob.get("/clock_transactions?q=ada")).text


@pytest.mark.parametrize("query", ["", "q=lovelace", "outcome=imported&terminal=T1&page=2", "late=open&sort=time"])
async def test_a_page_costs_three_selects(
    database: Database, mill: int, bob: Browser, selects: list[str], query: str
) -> None:
    await bob.get(f"/clock_transactions?{query}")
    assert 1 < len(selects) <= 3


async def test_totals_and_deep_pages_are_exact_whatever_days_were_counted(database: Database, mill: int) -> None:
    async with database.transaction() as db:
        for day in range(1, 29):
            await punch(db, "100", ", ".join(f"I 2026-02-{day:02} {hour:02}:00" for hour in range(day % 5 + 1)))
        some = [date(2026, 2, day) for day in range(1, 29, 2)]
        await daily_totals.mark_stale(db, [date(2026, 2, day) for day in range(2, 29, 2)])
        await count_days(db, some)
    async with database.transaction() as db:
        expected = list(
            await db.scalars(
                select(Punch.id).order_by(Punch.local_date.desc(), Punch.punched_at_utc.desc(), Punch.id.desc())
            )
        )
        for wanted in (PunchFilter(), PunchFilter(emp_codes=("100", "200"))):
            pages = [await punch_page(db, wanted, page=number, per_page=7) for number in range(1, 30)]
            assert {page.total for page in pages} == {len(expected)}
            assert [row.id for page in pages for row in page.rows] == expected


async def test_a_selection_is_retried_after_saying_how_many(database: Database, mill: int, bob: Browser) -> None:
    ids = [await id_of(database, local) for local in ("Mon 08:00", "Tue 08:00", "Wed 09:00")]
    form: dict[str, Any] = {"action": "retry", "id": [str(one) for one in ids]}
    asked = await bob.submit("/clock_transactions/bulk", form, headers={"HX-Request": "true"})
    assert "Retry 2 punches?" in asked.text
    assert "<html" not in asked.text
    done = await bob.submit("/clock_transactions/bulk", {**form, "confirmed": "1", "number": "2"})
    assert done.status_code == 303
    assert (
        "2 punches were judged again: 1 × No direction, 1 × Only one punch."
        in (await bob.get("/clock_transactions")).text
    )


async def test_the_whole_filter_is_retried_and_the_audit_says_so(database: Database, mill: int, bob: Browser) -> None:
    employee = await database_employ(database, "Bea")
    async with database.transaction() as db:
        await db.execute(
            update(Binding)
            .where(Binding.emp_code == "200")
            .values(state="bound", method="manual", host_employee_id=employee)
        )
    form = {"action": "retry", "all": "1", "confirmed": "1", "number": "1"}
    await bob.submit("/clock_transactions/bulk?outcome=not_bound", form)
    async with database.transaction() as db:
        assert await outcomes(db, "200") == [("08:30", "only_one_punch")]
        entry = await db.scalar(select(AuditEntry).where(AuditEntry.act == "clock.retry"))
        assert entry is not None
        assert (entry.actor_name, entry.before, entry.after) == (
            "Bob Brandt",
            {"outcomes": {"not_bound": 1}},
            {"outcomes": {"only_one_punch": 1}, "retry": True},
        )


async def database_employ(database: Database, name: str) -> int:
    async with database.transaction() as db:
        return await employ(db, name)


async def test_a_number_that_changed_meanwhile_is_asked_about_again(mill: int, bob: Browser) -> None:
    form = {"action": "retry", "all": "1", "confirmed": "1", "number": "17"}
    answer = await bob.submit("/clock_transactions/bulk", form)
    assert "Retry 3 punches?" in answer.text


async def test_an_act_without_anything_to_act_on_is_refused(database: Database, mill: int, bob: Browser) -> None:
    assert (await bob.submit("/clock_transactions/bulk", {"action": "retry"})).status_code == 422
    assert (await bob.submit("/clock_transactions/bulk", {"action": "keep", "all": "1"})).status_code == 422
    assert (await bob.submit("/clock_transactions/bulk", {"action": "erase", "all": "1"})).status_code == 404
    punch_id = await id_of(database, "Mon 08:00")
    for act, sentence in (
        ("retry", "This punch can't be judged again: it belongs to a record, or is gone from the server."),
        (
            "keep",
            "This is only for punches that arrived after the import, or that are gone from the server. This punch",
        ),
        ("settle", "This punch can't be settled: it needs no person, or it is settled."),
        ("unsettle", "No person settled this punch."),
    ):
        refused = await bob.submit(f"/clock_transactions/{punch_id}/{act}")
        assert refused.status_code == 422
        assert sentence in html.unescape(refused.text)


async def test_a_retry_in_the_drawer_shows_at_once_what_came_of_it(database: Database, mill: int, bob: Browser) -> None:
    async with database.transaction() as db:
        record_id = await db.scalar(select(AttendanceRecord.id))
        await attendance.remove(db, SYSTEM, [record_id or 0])
    punch_id = await id_of(database, "Mon 08:00")
    before = await bob.fragment(f"/clock_transactions/{punch_id}")
    assert "Retry: it becomes Imported and a record is made." in before.text
    answer = await bob.submit(f"/clock_transactions/{punch_id}/retry", headers={"HX-Request": "true"})
    assert answer.headers["HX-Trigger"] == "muster:changed"
    assert "Why? Imported" in answer.text
    assert "1 punch was judged again: Imported." in answer.text
    async with database.transaction() as db:
        assert len(await records(db)) == 1
        assert await db.scalar(select(func.count()).select_from(Punch).where(Punch.import_outcome == "imported")) == 2


async def test_without_script_an_act_leads_back_to_the_punch(database: Database, mill: int, bob: Browser) -> None:
    url = f"/clock_transactions/{await id_of(database, 'Tue 08:00')}"
    answer = await bob.submit(f"{url}/retry")
    assert (answer.status_code, answer.headers["location"]) == (303, url)
    assert "1 punch was judged again: Only one punch." in (await bob.get(url)).text


async def test_names_are_text_and_never_markup(database: Database, bob: Browser) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "9", full_name="<b>O'Neill</b> & <script>")
        await mirror_terminal(db, "T1", alias="<i>Gate</i>")
        await punch(db, "9", "I 08:00")
    text_ = (await bob.get("/clock_transactions")).text
    assert "<b>O" not in text_
    assert "<i>Gate" not in text_
    assert (
        json.loads((await bob.get("/clock_transactions?export=jsonl")).text)["employee"] == "<b>O'Neill</b> & <script>"
    )


async def test_between_an_act_and_the_import_only_what_comes_is_told(
    mill: int, bob: Browser, database: Database
) -> None:
    """The code was bound, and the import has not judged its punches yet."""
    url = f"/clock_transactions/{await id_of(database, 'Mon 08:30', '200')}"
    before = squeezed((await bob.get(url)).text)
    assert "Bind code 200: 1 punch" in before
    assert "Mark as settled" in before
    async with database.transaction() as db:
        bea = await employ(db, "Bea Byron", "7")
        await bindings.bind(db, COMMAND_LINE, await bindings.id_of_code(db, "200"), bea)
        await db.execute(update(Punch).where(Punch.emp_code == "200").values(judge_at=func.now()))
    page = squeezed((await bob.get(url)).text).partition('id="main"')[2]
    assert page.index("Not bound") < page.index("It is judged again soon")
    told = page.partition("It is judged again soon")[2]
    assert "The next import makes it: Only one punch." in told
    assert "has no clock-out" in told
    for gone in ("What would change it", "What you can do", "Mark as settled", "Add the clock-out", "Bind code"):
        assert gone not in page
    await import_all(database)
    assert "Mark as settled" in (await bob.get(url)).text


class TestTheFix:
    """*Why?* leads with what changes the outcome; it is done only as the button says."""

    async def test_it_is_offered_to_who_may_and_done_in_the_drawer(self, bob: Browser, vera: Browser, mill, database):
        punch_id = await id_of(database, "Wed 09:00")
        url = f"/clock_transactions/{punch_id}"
        label = "Read as undirected: 2 punches"
        page = (await bob.get(url)).text
        assert label in page
        assert re.search(r'data-state="no_direction"[^>]*>No direction</a> \w', page), "a space before the sentence"
        assert label not in (await vera.get(url)).text
        stale = await bob.submit(f"{url}/terminal", {"agreed": "Read as undirected: 9 punches"}, headers=HTMX)
        assert stale.status_code == 409
        assert "Look at the punch again" in stale.text
        answer = await bob.submit(f"{url}/terminal", {"agreed": label}, headers=HTMX)
        assert answer.status_code == 200
        assert answer.headers["HX-Trigger"] == "muster:changed"
        assert "The terminal was set." in answer.text
        assert (await bob.submit(f"{url}/accept", {"agreed": label}, headers=HTMX)).status_code == 409

    async def test_the_button_of_the_question_names_the_act_of_a_door(self, bob: Browser, mill, database):
        async with database.transaction() as db:
            await db.execute(update(Device).where(Device.sn == "T1").values(kind_mark="access"))
            await punch(db, "100", "x Thu 09:00", zone="Europe/Berlin")
        await import_all(database)
        page = squeezed((await bob.get(f"/clock_transactions/{await id_of(database, 'Thu 09:00')}/terminal")).text)
        assert re.search(r"Mark this terminal as attendance: \d+ punch\w*\?", page)
        assert ">Mark this terminal as attendance</button>" in page
        assert "Read as undirected" not in page

    @pytest.mark.parametrize("case", ["locked", "decided"])
    async def test_a_lock_and_a_decision_are_undone_from_the_punch_and_lead_back_to_it(
        self, bob: Browser, mill, database, case
    ):
        async with database.transaction() as db:
            number = await db.scalar(select(AttendanceRecord.id))
            day = await db.scalar(select(AttendanceRecord.workday)) + timedelta(days=3)
            await attendance.decide(db, SYSTEM, [number], "approved")
            await day_locks.lock(db, SYSTEM, day, day)
            await punch(db, "100", "I Thu 08:00, O Thu 17:00, bo Mon 12:00", zone="Europe/Berlin")
        await import_all(database)
        label, at, said = {
            "locked": ("Unlock Thu 5 Mar", "Thu 08:00", "1 day is open again."),
            "decided": (
                f"Set record {number} back to pending",
                "Mon 12:00",
                f"Record {number} was set back to pending.",
            ),
        }[case]
        url = f"/clock_transactions/{await id_of(database, at)}"
        link = html.unescape(
            re.search(rf'href="([^"]*)" data-dialog>{label}[^<]*<', squeezed((await bob.get(url)).text))[1]
        )
        in_dialog = {**HTMX, "HX-Target": "dialog"}
        question = (await bob.get(link, headers=in_dialog)).text
        assert 'hx-target="#dialog"' in question
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', question))
        action = re.search(r'hx-post="([^"]*)"', question)[1]
        answer = await bob.submit(action, fields, headers=in_dialog)
        assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, url)
        page = (await bob.get(url)).text
        assert said in page
        assert "It is judged again soon" in page
        again = await bob.get(link, headers=in_dialog)
        assert again.status_code == (409 if case == "locked" else 200)

    async def test_the_right_that_is_missing_is_named(self, bob: Browser, vera: Browser, mill, database):
        direction, alone = [f"/clock_transactions/{await id_of(database, at)}" for at in ("Wed 09:00", "Tue 08:00")]
        assert "You need the right “Set terminals” for this." in (await vera.get(direction)).text
        assert "You need the right “Change and decide attendance” for this." in (await vera.get(alone)).text
        assert 'id="lacks"' not in (await bob.get(direction)).text
        imported = await vera.get(f"/clock_transactions/{await id_of(database, 'Mon 08:00')}")
        assert 'id="lacks"' not in imported.text

    async def test_who_may_not_see_punches_gets_none_in_its_answer(self, sign_in: Any, mill, database):
        async with database.transaction() as db:
            await roles.add(db, COMMAND_LINE, "Setter", ["clock.devices", "clock.devices.edit"])
            bob = await accounts.find_by_email(db, "bob@example.org")
            await accounts.edit(db, COMMAND_LINE, bob.id, name=bob.name, kind=bob.type, roles=["Setter"])
        punch_id = await id_of(database, "Wed 09:00")
        label = "Read as undirected: 2 punches"
        answer = await (await sign_in("bob")).submit(f"/clock_transactions/{punch_id}/terminal", {"agreed": label})
        assert answer.status_code == 403
        async with database.transaction() as db:
            assert set(await db.scalars(select(Device.direction))) == {None}

    async def test_a_record_by_hand_is_added_in_the_drawer_and_leads_back_to_the_punch(
        self, bob: Browser, mill, database
    ):
        punch_id = await id_of(database, "Tue 08:00")
        page = (await bob.get(f"/clock_transactions/{punch_id}")).text
        link = html.unescape(re.search(r'href="(/attendance/add[^"]*)"[^>]*>Add the clock-out', page)[1])
        assert f"back=/clock_transactions/{punch_id}" in unquote(link)
        assert page.count('href="/attendance/add') == 1, "one way to the form"
        beneath = {
            **HTMX,
            "HX-Target": "drawer",
            "HX-Current-URL": "https://testserver/clock_transactions?outcome=only_one_punch",
        }
        form = (await bob.get(link, headers=beneath)).text
        assert f'name="back" value="/clock_transactions/{punch_id}"' in form
        assert 'hx-post="/attendance/add" hx-target="#drawer"' in form
        clock_in = re.search(r'name="clock_in"[^>]*value="([^"]+)"', form)[1]
        assert clock_in.endswith("T08:00:00")
        # As a page of its own it has nothing to lead back into.
        assert (
            "hx-post"
            not in re.search(r'<form method="post" action="/attendance/add"[^>]*>', (await bob.get(link)).text)[0]
        )
        there = {**HTMX, "HX-Target": "drawer"}
        values = {
            "employee": f"#{mill}", "clock_in": clock_in, "clock_out": clock_in.replace("T08", "T17"), "kind": "regular",
            "rows": "1", "stay": "1", "both": "1", "back": f"/clock_transactions/{punch_id}",
        }  # fmt: skip
        without = await bob.submit("/attendance/add", {**values, "clock_out": "", "note": "Forgot it"}, headers=there)
        assert (without.status_code, without.text.count(">This is needed.")) == (422, 1)
        assert all(kept in without.text for kept in (clock_in, "Forgot it", 'name="both" value="1"'))
        added = await bob.submit("/attendance/add", values, headers=there)
        assert added.headers["location"] == f"/clock_transactions/{punch_id}"
        shown = await bob.get(added.headers["location"], headers=there)
        assert "Add the clock-out" in shown.text or "Why?" in shown.text
        assert shown.headers["HX-Trigger"] == "muster:changed"
        assert re.search(r'id="flashes" hx-swap-oob="beforeend">.*was added\.', shown.text, re.DOTALL)
        # It is said once.
        assert "was added." not in (await bob.get("/clock_transactions")).text
