"""The pages `/attendance`: every view, bulk acts, one record, its forms."""

import csv
import json
import re
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.host.attendance import day_locks, imported
from app.host.attendance import queries as attendance_queries
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.attendance.imported import NewRecord
from app.host.attendance.queries import SourceLink
from app.host.models import AttendanceRecord, DayLock
from app.host.people import people
from app.periods import PERIODS
from tests.conftest import Browser
from tests.host.staff import ALICE, acts_on, at, hire, hours, record_of, work
from tests.markup import squeezed

DAY = at("00:00").date()
SEES = (
    "/attendance",
    "/attendance/days",
    "/attendance/days/2026-11-20",
    "/attendance/people",
    "/attendance/people/1",
    "/attendance/1",
)
ACTS = ("/attendance/add", "/attendance/1/edit", "/attendance/1/delete")
POSTS = (
    "/attendance/bulk",
    "/attendance/days/2026-11-20/bulk",
    "/attendance/people/1/bulk",
    "/attendance/add",
    "/attendance/1/edit",
    "/attendance/1/decide",
    "/attendance/1/delete",
)


async def one_record(database: Database) -> tuple[int, int]:
    """Ada's day, 08:00 to 17:00 with a break at noon."""
    async with database.transaction() as db:
        ada = await hire(db, department="Mill")
        return ada, await attendance.add(db, ALICE, ada, hours("08:00", "17:00", ("12:00", "12:30")))


async def test_every_view_shows_the_record(database: Database, bob: Browser) -> None:
    ada, record_id = await one_record(database)
    for url in ("/attendance", "/attendance/days/2026-11-20", f"/attendance/people/{ada}", f"/attendance/{record_id}"):
        text = (await bob.get(url)).text
        for word in ("Ada Lovelace", "08:00", "17:00", "12:00–12:30", "8 h 30 min", "Pending"):
            assert word in text, (url, word)


async def test_a_record_names_the_zone_of_its_times(database: Database, bob: Browser) -> None:
    _, record_id = await one_record(database)
    text = (await bob.get(f"/attendance/{record_id}")).text
    assert re.search(r'<dt>Clock-in</dt><dd><time [^>]+ title="2026-11-20 08:00:00 UTC">Fri 20 Nov', text)
    assert re.search(r'<dt>Clock-out</dt><dd><time [^>]+ title="2026-11-20 17:00:00 UTC">Fri 20 Nov', squeezed(text))
    assert text.count("Times in UTC<") == 1


async def test_strangers_sign_in_and_the_person_who_may_not_see_is_refused(
    database: Database, visitor: Browser, sign_in
) -> None:
    await one_record(database)
    nora = await sign_in("nora")
    for url in (*SEES, *ACTS):
        assert (await visitor.get(url)).headers["location"].startswith("/sign-in")
        assert (await nora.get(url)).status_code == 403


async def test_a_viewer_sees_and_changes_nothing(database: Database, vera: Browser) -> None:
    _, record_id = await one_record(database)
    for url in SEES:
        answer = await vera.get(url)
        assert answer.status_code in (200, 303)
        assert 'type="checkbox" form="bulk-' not in answer.text
    assert "Approve" not in (await vera.get(f"/attendance/{record_id}")).text
    for url in ACTS:
        assert (await vera.get(url)).status_code == 403
    for url in POSTS:
        assert (await vera.submit(url, {"status": "approved", "action": "delete", "all": "1"})).status_code == 403


async def test_records_of_another_workspace_do_not_exist_here(database: Database, eve: Browser) -> None:
    ada, record_id = await one_record(database)
    assert "Ada" not in (await eve.get("/attendance")).text
    for url in (f"/attendance/{record_id}", f"/attendance/{record_id}/edit", f"/attendance/people/{ada}"):
        assert (await eve.get(url)).status_code == 404
    for url in (f"/attendance/{record_id}/decide", f"/attendance/{record_id}/delete"):
        assert (await eve.submit(url, {"status": "approved"})).status_code == 404
    asked = await eve.submit(
        "/attendance/bulk", {"action": "delete", "id": str(record_id), "confirmed": "1", "number": "1"}
    )
    assert asked.status_code == 409
    async with database.transaction() as db:
        assert (await record_of(db, record_id)).status == "pending"


async def test_htmx_gets_the_block(database: Database, alice: Browser) -> None:
    _, record_id = await one_record(database)
    for url, word in (
        ("/attendance", 'id="attendance-results"'),
        ("/attendance/days/2026-11-20", 'id="attendance-results"'),
        (f"/attendance/{record_id}", "drawer-head"),
        (f"/attendance/{record_id}/edit", "drawer-head"),
        (f"/attendance/{record_id}/delete", 'class="confirm"'),
        ("/attendance/add", "drawer-head"),
    ):
        answer = await alice.fragment(url)
        assert answer.status_code == 200
        assert word in answer.text
        assert "<html" not in answer.text


async def test_a_page_takes_at_most_three_selects(database: Database, alice: Browser, selects: list[str]) -> None:
    ada, record_id = await one_record(database)
    for url in (
        "/attendance",
        "/attendance/days/2026-11-20",
        f"/attendance/people/{ada}",
        f"/attendance/{record_id}",
        "/attendance/locks",
    ):
        selects.clear()
        assert (await alice.get(url)).status_code == 200
        assert len(selects) <= 3, selects


async def test_filters_narrow_and_the_sums_follow(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ada, grace = await hire(db, department="Mill"), await hire(db, "Grace Hopper", "2")
        done = await work(db, ada, "08:00", "12:00")
        await work(db, ada, "13:00", kind="overtime")
        await attendance.decide(db, ALICE, [done], "approved")
        no = await work(db, grace, "08:00", "18:00 2026-11-21")
        await attendance.decide(db, ALICE, [no], "rejected")
        await imported.create_records(db, [NewRecord(grace, DAY, hours("20:00", "21:30"))])

    async def found(query: str) -> str:
        text = (await alice.get(f"/attendance?{query}")).text
        return (
            text.partition('class="pager-count">')[2]
            .partition("</p>")[0]
            .replace("<strong>", "")
            .replace("</strong>", "")
        )

    assert await found("") == "1–4 of 4 · 2 people, 5 h 30 min worked, 2 pending, 1 still open"
    assert await found("status=approved&status=rejected") == "1–2 of 2 · 2 people, 4 h 00 min worked"
    assert await found("department=Mill") == "1–2 of 2 · 1 person, 4 h 00 min worked, 1 pending, 1 still open"
    assert await found("kind=overtime") == "1–1 of 1 · 1 person, 0 min worked, 1 pending, 1 still open"
    assert await found("source=clock") == "1–1 of 1 · 1 person, 1 h 30 min worked, 1 pending"
    assert await found("open=1") == "1–1 of 1 · 1 person, 0 min worked, 1 pending, 1 still open"
    assert await found("q=grace") == "1–2 of 2 · 1 person, 1 h 30 min worked, 1 pending"
    assert await found("from=2026-11-21") == "No attendance records"
    assert await found("from=yesterday") == "No attendance records"


async def test_an_export_holds_breaks_kind_status_source_and_the_zones_offset(
    database: Database, alice: Browser, in_vancouver: None
) -> None:
    ada, _ = await one_record(database)
    for url in ("/attendance", "/attendance/days/2026-11-20", f"/attendance/people/{ada}"):
        (line,) = (await alice.get(f"{url}?export=jsonl")).text.splitlines()
        row = json.loads(line)
        assert row["clock_in"] == "2026-11-20T00:00:00-08:00"
        assert row["breaks"] == ["2026-11-20T04:00:00-08:00/2026-11-20T04:30:00-08:00"]
        assert (row["kind"], row["status"], row["source"], row["worked_hours"]) == ("regular", "pending", "manual", 8.5)
        assert "bar" not in row
    assert (await alice.get("/attendance?export=csv")).text.splitlines()[0].startswith("Workday,Person,Clock-in")


async def test_exported_hours_are_decimal_or_hours_and_minutes_with_the_id_number(
    database: Database, alice: Browser, in_vancouver: None
) -> None:
    ada, _ = await one_record(database)
    for url in ("/attendance", "/attendance/days/2026-11-20", f"/attendance/people/{ada}"):
        for query, worked in (("", "8.50"), ("&hours=decimal", "8.50"), ("&hours=h%3Amm", "8:30")):
            (row,) = csv.DictReader((await alice.get(f"{url}?export=csv{query}")).text.splitlines())
            assert (row["ID number"], row["Hours"], row["Worked"]) == ("1", worked, "8.5")
    assert '"hours":8.50}' in (await alice.get("/attendance?export=jsonl")).text
    assert '"hours":"8:30"}' in (await alice.get("/attendance?export=jsonl&hours=h%3Amm")).text
    refused = await alice.get("/attendance?export=csv&hours=minutes")
    assert refused.status_code == 422
    assert "Exported hours are decimal or h:mm." in refused.text


async def test_an_open_record_has_no_exported_hours(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        await work(db, await hire(db), "08:00")
    for query in ("", "&hours=h%3Amm"):
        (row,) = csv.DictReader((await alice.get(f"/attendance?export=csv{query}")).text.splitlines())
        assert row["Hours"] == ""


async def test_the_file_of_a_day_is_named_after_it_and_the_menu_offers_both_forms(
    database: Database, alice: Browser
) -> None:
    await one_record(database)
    answer = await alice.get("/attendance/days/2026-11-20?export=csv")
    assert 'filename="attendance-2026-11-20-to-2026-11-20.csv"' in answer.headers["content-disposition"]
    shown = (await alice.get("/attendance?period=this-month")).text
    assert 'href="/attendance?period=this-month&amp;export=csv&amp;hours=h%3Amm"' in shown


async def test_where_a_time_has_seconds_all_of_them_may_have_seconds(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    link = f"/attendance/add?employee=%23{ada}&both=1&clock_in=2026-11-20T08:00:05"
    form = (await alice.get(link)).text
    fields = re.findall(r'<input[^>]*type="datetime-local"[^>]*>', form)
    assert len(fields) > 2
    assert all(' step="1"' in field for field in fields)
    assert ' step="1"' not in (await alice.get(link.removesuffix(":05"))).text
    typed = {"employee": f"#{ada}", "clock_in": "2026-11-20T08:00:05", "clock_out": "2026-11-20T17:03:21"}
    assert (await alice.submit("/attendance/add", {**typed, "kind": "regular", "rows": "1"})).status_code == 303
    assert 'value="2026-11-20T17:03:21"' in (await alice.get(await edit_of(database))).text


async def edit_of(database: Database) -> str:
    async with database.transaction() as db:
        return f"/attendance/{await db.scalar(select(AttendanceRecord.id))}/edit"


async def test_the_day_and_person_choosers_lead_there(database: Database, alice: Browser) -> None:
    ada, _ = await one_record(database)
    assert (await alice.get("/attendance/days?day=2026-11-20")).headers["location"] == "/attendance/days/2026-11-20"
    today = datetime.now(UTC).date()
    assert (await alice.get("/attendance/days")).headers["location"] == f"/attendance/days/{today}"
    assert (await alice.get("/attendance/days?day=soon")).status_code == 422
    assert (await alice.get("/attendance/days/soon")).status_code == 404
    for text in (f"%23{ada}", "1"):
        assert (await alice.get(f"/attendance/people?employee={text}")).headers[
            "location"
        ] == f"/attendance/people/{ada}"
    answer = await alice.get("/attendance/people?employee=404")
    assert answer.status_code == 422
    assert "No employee has the ID number 404" in answer.text


async def test_an_empty_day_leads_to_the_next_one_with_records(database: Database, alice: Browser) -> None:
    await one_record(database)
    assert "Last day with records: Fri 20 Nov" in (await alice.get("/attendance/days/2026-11-25")).text
    assert "Next day with records: Fri 20 Nov" in (await alice.get("/attendance/days/2026-11-01")).text


async def test_a_record_is_added_by_hand_in_the_workspaces_zone(
    database: Database, alice: Browser, in_vancouver: None
) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    typed = {
        "employee": f"#{ada}", "clock_in": "2026-11-20T08:00", "clock_out": "2026-11-20T17:00", "kind": "regular",
        "rows": "2", "break_1_out": "2026-11-20T12:00", "break_1_back": "2026-11-20T13:00", "note": "Badge lost",
    }  # fmt: skip
    answer = await alice.submit("/attendance/add", typed)
    assert answer.status_code == 303
    record_id = int(answer.headers["location"].rpartition("/")[2])
    async with database.transaction() as db:
        kept = await record_of(db, record_id)
    assert Hours.of(kept) == hours("16:00", "01:00 2026-11-21", ("20:00", "21:00"))
    assert (kept.note, kept.source, str(kept.workday)) == ("Badge lost", "manual", "2026-11-20")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"employee": ""}, "This is needed."),
        ({"employee": "404"}, "No employee has the ID number 404"),
        ({"clock_in": ""}, "This is needed."),
        ({"clock_out": "2026-11-20T07:00"}, "The clock-out must be after the clock-in."),
        ({"clock_in": "0001-01-01T00:00"}, "Give a year"),
        ({"break_1_out": "2026-11-20T12:00"}, "Give both ends of the break"),
        ({"break_1_out": "2026-11-20T07:00", "break_1_back": "2026-11-20T09:00"}, "must lie between"),
        ({"clock_in": "2026-11-21T08:00", "clock_out": ""}, "is locked"),
        ({"clock_in": "2026-11-19T11:00", "clock_out": "2026-11-19T13:00"}, "This overlaps record"),
        ({"kind": "night"}, "Choose one of the list."),
    ],
)
async def test_what_cannot_be_added_is_said_at_its_field_and_nothing_is_lost(
    database: Database, alice: Browser, typed: dict[str, str], words: str
) -> None:
    async with database.transaction() as db:
        ada = await hire(db, "Ada Lovelace", "A1")
        await work(db, ada, "08:00 2026-11-19", "12:00 2026-11-19")
        await day_locks.lock(db, ALICE, DAY.replace(day=21), DAY.replace(day=21))
    whole = {
        "employee": "a1",
        "clock_in": "2026-11-20T08:00",
        "clock_out": "2026-11-20T17:00",
        "kind": "regular",
        "note": "Kept",
    }
    answer = await alice.submit("/attendance/add", {**whole, **typed, "rows": "1"})
    assert answer.status_code == 422
    assert words in answer.text
    assert "Kept" in answer.text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(AttendanceRecord)) == 1


async def test_a_break_is_added_without_script_and_nothing_typed_is_lost(database: Database, alice: Browser) -> None:
    _, record_id = await one_record(database)
    shown = (await alice.get(f"/attendance/{record_id}/edit")).text
    assert 'name="break_2_out"' in shown
    assert 'name="break_3_out"' not in shown
    typed = {"rows": "2", "more": "1", "clock_in": "2026-11-20T07:45", "note": "Half typed"}
    more = await alice.submit(f"/attendance/{record_id}/edit", typed)
    assert more.status_code == 200
    for word in ('name="break_3_out"', "2026-11-20T07:45", "Half typed"):
        assert word in more.text
    async with database.transaction() as db:
        assert (await record_of(db, record_id)).clock_in == at("08:00")


async def edit_form(browser: Browser, record_id: int) -> dict[str, str]:
    """What the edit form holds, as a browser would post it back."""
    import re

    text = (await browser.get(f"/attendance/{record_id}/edit")).text
    found = dict(re.findall(r'<input[^>]*name="([a-z_0-9]+)" value="([^"]*)"', text))
    return {**found, "kind": "regular"}


async def test_an_edit_in_the_browser_keeps_what_was_there_before(database: Database, alice: Browser) -> None:
    _, record_id = await one_record(database)
    form = await edit_form(alice, record_id)
    answer = await alice.submit(
        f"/attendance/{record_id}/edit",
        {**form, "clock_out": "2026-11-20T18:00", "break_1_out": "", "break_1_back": ""},
    )
    assert answer.status_code == 303
    async with database.transaction() as db:
        kept = await record_of(db, record_id)
    assert Hours.of(kept) == hours("08:00", "18:00")
    text = (await alice.get(f"/attendance/{record_id}")).text
    assert "Hours changed by hand" in text
    stale = await alice.submit(f"/attendance/{record_id}/edit", {**form, "clock_out": "2026-11-20T19:00"})
    assert stale.status_code == 409
    assert "Not saved: you changed this after you opened the form" in stale.text


async def test_times_with_seconds_may_be_changed_to_any_second(database: Database, alice: Browser) -> None:
    """A browser counts a minute's steps from the value, and would refuse 18:00 after 17:00:07."""
    async with database.transaction() as db:
        clocked = Hours(hours("08:00", "17:00").clock_in, datetime(2026, 11, 20, 17, 0, 7, tzinfo=UTC))
        record_id = await attendance.add(db, ALICE, await hire(db), clocked)
    text = (await alice.get(f"/attendance/{record_id}/edit")).text
    fields = {field.split('"')[0]: field.split(">")[0] for field in text.split('type="datetime-local" id="f-')[1:]}
    assert 'step="1"' in fields["clock_out"]
    assert 'step="1"' in fields["clock_in"], "another time of the record has seconds"


async def test_saving_an_untouched_form_changes_nothing_even_in_a_repeated_hour(
    database: Database, alice: Browser, in_vancouver: None
) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
        second_half_past_one = datetime(2013, 11, 3, 9, 30, 0, 123456, tzinfo=UTC)
        record_id = await attendance.add(
            db, ALICE, ada, Hours(second_half_past_one, datetime(2013, 11, 3, 18, tzinfo=UTC))
        )
    answer = await alice.submit(f"/attendance/{record_id}/edit", await edit_form(alice, record_id))
    assert answer.status_code == 303
    async with database.transaction() as db:
        kept = await record_of(db, record_id)
        assert (kept.clock_in, kept.edited_from) == (second_half_past_one, None)
        assert len(await acts_on(db, "attendance", record_id)) == 1


async def test_a_record_is_decided_and_set_back_in_the_browser(database: Database, bob: Browser) -> None:
    _, record_id = await one_record(database)
    for status, said in (
        ("approved", "approved"),
        ("rejected", "rejected"),
        ("auto_closed", "auto-closed"),
        ("pending", "set back"),
    ):
        answer = await bob.submit(f"/attendance/{record_id}/decide", {"status": status})
        assert answer.status_code == 303
        assert said in (await bob.get(answer.headers["location"])).text
        async with database.transaction() as db:
            assert (await record_of(db, record_id)).status == status
    assert (await bob.submit(f"/attendance/{record_id}/decide", {"status": "done"})).status_code == 404


async def test_editing_a_decided_record_says_that_it_is_pending_again(database: Database, alice: Browser) -> None:
    _, record_id = await one_record(database)
    async with database.transaction() as db:
        await attendance.decide(db, ALICE, [record_id], "auto_closed")
    form = await edit_form(alice, record_id)
    await alice.submit(f"/attendance/{record_id}/edit", {**form, "clock_out": "2026-11-20T18:00"})
    assert "It was auto-closed and is pending again" in (await alice.get(f"/attendance/{record_id}")).text


async def test_deleting_says_what_it_does_first(database: Database, alice: Browser) -> None:
    _, record_id = await one_record(database)
    question = await alice.get(f"/attendance/{record_id}/delete")
    assert "made by hand and is gone for good" in question.text
    assert re.search(r"Ada Lovelace, Fri 20 Nov[ 0-9]*, 08:00–17:00\.", question.text)
    answer = await alice.submit(f"/attendance/{record_id}/delete", {"confirmed": "1"})
    assert answer.headers["location"] == "/attendance/days/2026-11-20"
    assert (await alice.get(f"/attendance/{record_id}")).status_code == 404


async def many(db: AsyncSession) -> list[int]:
    """Three records of Ada on three days, the last one locked."""
    ada = await hire(db)
    ids = [await work(db, ada, f"08:00 2026-11-{day}", f"17:00 2026-11-{day}") for day in (18, 19, 20)]
    await day_locks.lock(db, ALICE, DAY, DAY)
    return ids


async def test_a_bulk_decision_asks_with_the_number_and_leaves_locked_days_alone(
    database: Database, alice: Browser
) -> None:
    async with database.transaction() as db:
        ids = await many(db)
    chosen = {"action": "approved", "id": [str(one) for one in ids]}
    question = await alice.submit("/attendance/bulk", chosen, headers={"HX-Request": "true"})
    assert "Approve 2 records?" in question.text
    assert "1 selected record stays as it is" in question.text
    answer = await alice.submit("/attendance/bulk", {**chosen, "confirmed": "1", "number": "2"})
    assert answer.status_code == 303
    async with database.transaction() as db:
        assert [(await record_of(db, one)).status for one in ids] == ["approved", "approved", "pending"]


async def test_a_bulk_act_over_a_filter_reaches_only_its_view(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ids = await many(db)
        other = await work(db, await hire(db, "Grace", "2"), "08:00 2026-11-18", "17:00 2026-11-18")
    every = {"action": "delete", "all": "1", "confirmed": "1", "number": "1"}
    answer = await alice.submit("/attendance/days/2026-11-18/bulk?q=ada", every)
    assert answer.headers["location"] == "/attendance/days/2026-11-18"
    async with database.transaction() as db:
        gone = [(await record_of(db, one)).deleted_at is not None for one in (*ids, other)]
    assert gone == [True, False, False, False]


async def test_deciding_in_the_drawer_answers_with_the_drawer_and_has_lists_fetch_again(
    database: Database, alice: Browser
) -> None:
    _, record_id = await one_record(database)
    answer = await alice.submit(
        f"/attendance/{record_id}/decide", {"status": "approved"}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 200
    assert answer.headers["hx-trigger"] == "muster:changed"
    assert "by Alice Ahn" in answer.text
    assert 'value="approved" disabled' in answer.text
    assert "<html" not in answer.text


async def test_deleting_an_imported_record_says_what_becomes_of_its_punches(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        new = [NewRecord(await hire(db), DAY, hours("08:00", "17:00"))]
        (record_id,) = await imported.create_records(db, new)
    assert "Attendance deleted" in (await alice.get(f"/attendance/{record_id}/delete")).text


async def test_a_bulk_act_that_changes_nothing_is_refused(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ids = await many(db)
    for data in ({"action": "pending", "all": "1"}, {"action": "delete", "id": str(ids[2])}, {"action": "delete"}):
        assert (await alice.submit("/attendance/bulk", data)).status_code in (409, 422)


async def test_a_locked_day_is_visibly_locked_and_its_record_offers_nothing(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ids = await many(db)
    assert "This day is locked" in (await alice.get("/attendance/days/2026-11-20")).text
    record = (await alice.get(f"/attendance/{ids[2]}")).text
    assert "This day is locked" in record
    assert "Approve" not in record
    assert (await alice.submit(f"/attendance/{ids[2]}/decide", {"status": "approved"})).status_code == 409
    assert "Approve" in (await alice.get(f"/attendance/{ids[0]}")).text


async def test_a_record_links_to_what_made_it_for_the_person_who_may_see_that(
    database: Database, alice: Browser, sign_in
) -> None:
    _, record_id = await one_record(database)
    async with database.transaction() as db:
        await db.execute(update(AttendanceRecord).values(source="clock"))

    async def punches(db: AsyncSession, record_id: int) -> list[SourceLink]:
        return [SourceLink("4 punches", f"/elsewhere?record={record_id}", "admin.audit")]

    before = list(attendance_queries._providers)
    attendance_queries.offer_links(punches)
    try:
        assert f'href="/elsewhere?record={record_id}"' in (await alice.get(f"/attendance/{record_id}")).text
        vera = await sign_in("vera")
        assert "4 punches" not in (await vera.get(f"/attendance/{record_id}")).text
    finally:
        attendance_queries._providers[:] = before


async def test_the_view_of_a_deleted_person_still_shows_their_hours(database: Database, alice: Browser) -> None:
    ada, _ = await one_record(database)
    async with database.transaction() as db:
        await people.remove(db, ALICE, [ada])
    text = (await alice.get(f"/attendance/people/{ada}")).text
    assert "deleted" in text
    assert "8 h 30 min" in text


async def test_last_month_is_what_the_form_for_locks_proposes(bob: Browser) -> None:
    page = (await bob.get("/attendance/locks")).text
    first, last = PERIODS["last-month"].days(datetime.now(UTC).date())
    assert re.findall(r'name="(?:from|to)" value="([^"]+)"', page) == [str(first), str(last)]


async def test_days_are_locked_and_unlocked_after_a_question(database: Database, bob: Browser) -> None:
    await one_record(database)
    days = {"from": "2026-11-19", "to": "2026-11-20"}
    question = await bob.submit("/attendance/locks/lock", days)
    assert "Lock 2 days?" in question.text
    assert "1 record on them is still pending" in question.text
    answer = await bob.submit("/attendance/locks/lock", {**days, "confirmed": "1"})
    assert urlsplit(answer.headers["location"]).path == "/attendance/locks"
    shown = (await bob.get("/attendance/locks")).text
    assert "2 days are locked now." in shown
    assert "Bob Brandt" in shown
    assert "Unlock 2 days?" in (await bob.submit("/attendance/locks/unlock", days)).text
    await bob.submit("/attendance/locks/unlock", {**days, "confirmed": "1"})
    assert "No day is locked" in (await bob.get("/attendance/locks")).text
    assert (await bob.submit("/attendance/locks/unlock", days)).status_code == 422


async def lock_days(database: Database, *days: int) -> None:
    async with database.transaction() as db:
        for day in days:
            await day_locks.lock(db, ALICE, DAY.replace(day=day), DAY.replace(day=day))


async def locked_days(database: Database) -> list[int]:
    async with database.transaction() as db:
        return [day.day for day in await db.scalars(select(DayLock.day).order_by(DayLock.day))]


async def test_the_second_of_two_who_lock_or_unlock_the_same_days_reads_that_it_was_done(bob: Browser) -> None:
    days = {"from": "2026-11-02", "to": "2026-11-03", "confirmed": "1"}
    for act, first, second in (
        ("lock", "2 days are locked now.", "These days are locked already."),
        ("unlock", "2 days are open again.", "These days are open already."),
    ):
        for said in (first, second):
            await bob.submit(f"/attendance/locks/{act}", days)
            assert said in (await bob.get("/attendance/locks")).text


async def test_ticked_days_are_unlocked_after_a_question_and_no_day_between(database: Database, bob: Browser) -> None:
    await lock_days(database, 2, 3, 4, 5, 9)
    chosen = {"action": "unlock", "id": ["2026-11-02", "2026-11-03", "2026-11-05", "2026-11-30", "2026-02-30", "7"]}
    question = await bob.submit("/attendance/locks/bulk", chosen, headers={"HX-Request": "true"})
    assert "<html" not in question.text
    assert "Unlock 3 days?" in question.text
    assert "2 – 5 Nov, in 2 stretches. Attendance on these days can be changed again" in question.text
    assert await locked_days(database) == [2, 3, 4, 5, 9]
    answer = await bob.submit("/attendance/locks/bulk", {**chosen, "confirmed": "1", "number": "3"})
    assert urlsplit(answer.headers["location"]).path == "/attendance/locks"
    assert "3 days are open again." in (await bob.get("/attendance/locks")).text
    assert await locked_days(database) == [4, 9]
    async with database.transaction() as db:
        acts = [
            *await acts_on(db, "days", "2026-11-02..2026-11-03"),
            *await acts_on(db, "days", "2026-11-05..2026-11-05"),
        ]
        assert [(one.act, one.after) for one in acts if one.act == "attendance.unlock"] == [
            ("attendance.unlock", {"state": "open", "days": 2}),
            ("attendance.unlock", {"state": "open", "days": 1}),
        ]
    again = await bob.submit("/attendance/locks/bulk", chosen)
    assert again.status_code == 409
    assert "These days are open already." in again.text


async def test_locked_days_of_a_filter_are_unlocked_and_asked_about_again_when_the_number_changed(
    database: Database, bob: Browser
) -> None:
    await lock_days(database, 2, 3, 9)
    every = {"action": "unlock", "all": "1", "confirmed": "1"}
    url = "/attendance/locks/bulk?from=2026-11-03"
    assert "Unlock 2 days?" in (await bob.submit(url, {**every, "number": "3"})).text
    assert (await bob.submit(url, {**every, "number": "2"})).status_code == 303
    assert await locked_days(database) == [2]
    assert (await bob.submit("/attendance/locks/bulk", {"action": "unlock"})).status_code == 422
    assert (await bob.submit("/attendance/locks/bulk", {"action": "unlock", "id": "7"})).status_code == 422
    assert (await bob.submit("/attendance/locks/bulk", {"action": "lock", "all": "1"})).status_code == 404


async def test_no_more_days_are_unlocked_at_once_than_by_their_range(
    database: Database, bob: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lock_days(database, 2, 4, 9)
    monkeypatch.setattr(day_locks, "MOST_DAYS", 2)
    answer = await bob.submit("/attendance/locks/bulk", {"action": "unlock", "all": "1"})
    assert answer.status_code == 422
    assert "At most 2 days at once; these are 3." in answer.text


async def test_wrong_days_come_back_with_the_error(bob: Browser) -> None:
    for days in (
        {"from": "2026-11-20", "to": "2026-11-19"},
        {"from": "", "to": "2026-11-19"},
        {"from": "1999-01-01", "to": "2026-11-19"},
    ):
        assert (await bob.submit("/attendance/locks/lock", days)).status_code == 422


@pytest.mark.parametrize("day", ["0001-01-01", "1999-12-31", "2101-01-01", "9999-12-31"])
async def test_a_year_that_cant_be_meant_is_told_at_the_field_and_locks_nothing(bob: Browser, day: str) -> None:
    for confirmed in ({}, {"confirmed": "1"}):
        answer = await bob.submit("/attendance/locks/lock", {"from": day, "to": day, **confirmed})
        assert answer.status_code == 422
        assert answer.text.count('id="f-from-error"') == answer.text.count('id="f-to-error"') == 1
        assert "Give a year from 2000 to 2100." in answer.text
    assert "No day is locked" in (await bob.get("/attendance/locks")).text


async def test_a_day_of_any_year_that_is_locked_already_can_be_opened(database: Database, bob: Browser) -> None:
    async with database.transaction() as db:
        await db.execute(insert(DayLock).values(day=date(9999, 12, 31), locked_by="Bob Brandt"))
    days = {"from": "9999-12-31", "to": "9999-12-31"}
    assert "Unlock 1 day?" in (await bob.submit("/attendance/locks/unlock", days)).text
    await bob.submit("/attendance/locks/unlock", {**days, "confirmed": "1"})
    assert "No day is locked" in (await bob.get("/attendance/locks")).text


async def test_locks_need_their_own_permission(vera: Browser, visitor: Browser) -> None:
    assert (await visitor.get("/attendance/locks")).status_code == 303
    assert (await vera.get("/attendance/locks")).status_code == 403
    every = {"action": "unlock", "all": "1", "confirmed": "1", "number": "0"}
    assert (await vera.submit("/attendance/locks/bulk", every)).status_code == 403
    for act in ("lock", "unlock"):
        assert (
            await vera.submit(f"/attendance/locks/{act}", {"from": "2026-11-20", "to": "2026-11-20", "confirmed": "1"})
        ).status_code == 403


async def test_a_time_in_the_future_is_refused_at_its_field(database: Database, alice: Browser) -> None:
    _, record_id = await one_record(database)
    tomorrow = f"{datetime.now(UTC).date() + timedelta(days=1)}T08:00"
    typed = {"employee": "1", "clock_in": tomorrow, "kind": "regular", "rows": "1"}
    added = await alice.submit("/attendance/add", typed)
    form = await edit_form(alice, record_id)
    edited = await alice.submit(f"/attendance/{record_id}/edit", {**form, "clock_out": tomorrow})
    for answer in (added, edited):
        assert answer.status_code == 422
        assert "This time is in the future. Check the date." in answer.text
    async with database.transaction() as db:
        assert (await record_of(db, record_id)).clock_out == at("17:00")
        assert await db.scalar(select(func.count()).select_from(AttendanceRecord)) == 1


async def test_hours_of_more_than_a_day_are_asked_about(database: Database, alice: Browser) -> None:
    _, record_id = await one_record(database)
    url, form = f"/attendance/{record_id}/edit", await edit_form(alice, record_id)
    assert 'name="long"' not in (await alice.get(url)).text
    long = {**form, "clock_out": "2026-11-23T04:20"}
    asked = await alice.submit(url, long)
    assert asked.status_code == 422
    assert "it is 68 h 20 min. Check the dates. If it is right, tick the box below." in asked.text
    assert 'name="long"' in asked.text
    assert (await alice.submit(url, {**long, "long": "1"})).status_code == 303
    # A change of the note alone is not asked about again.
    assert (await alice.submit(url, {**await edit_form(alice, record_id), "note": "On call"})).status_code == 303
    async with database.transaction() as db:
        assert (await record_of(db, record_id)).note == "On call"
