"""Employees & Bindings in a browser without a browser: the list, one person's drawer, acts on one and on many,
and who may."""

import csv
import io
import re
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, update

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Role
from app.clock.bindings import actions as bindings
from app.clock.bindings import undoing
from app.clock.importing.import_due import import_due
from app.clock.models import Binding, ClockEmployee, Connection, Department, Punch
from app.clock.punches.daily_totals import mark_stale
from app.clock.review import long_work
from app.host.attendance import records as attendance
from app.host.models import AttendanceRecord, Employee
from app.long_acts import acts as long_acts
from app.long_acts import progress as progress_of
from app.long_acts.models import LongActItem
from app.web.long_acts import bulk
from tests.clock.mirrored import connect, employ, mirror_person, outcomes, punch
from tests.clock.syncing import site
from tests.host.pages.test_acts import begin, carry_on
from tests.markup import squeezed

HTMX = {"HX-Request": "true"}


@pytest.fixture
async def floor(database):
    """Ada and Ben at the host; on the clock: Ada's code auto-matched, Ben's suggested, two without an employee,
    a test card."""
    async with database.transaction() as db:
        await connect(db, "Europe/Berlin")
        db.add(Department(code="D1", name="Assembly"))
        ada, ben = await employ(db, "Ada Lovelace", "100"), await employ(db, "Ben Okri", "200")
        people = (
            ("100", "Ada L", {"has_face": True, "department_code": "D1"}),
            ("900", "Okri, Ben", {}),
            ("901", "Cleo Marsh", {"has_fingerprint": True, "remarks": "Night shift"}),
            ("902", "Gone Person", {"absent_since": datetime(2026, 1, 2, tzinfo=UTC)}),
        )
        for code, name, more in people:
            await mirror_person(db, code, full_name=name, seen=1, **more)
        await mirror_person(db, "999", full_name="Test card", state="ignored", seen=1)
        await bindings.match_all(db)
        for code, taps in (("901", "I 08:00, O 17:00"), ("900", "I 08:00"), ("999", "I 08:00, O 09:00, I 10:00")):
            await punch(db, code, taps)
        await db.execute(update(Punch).values(import_outcome="not_bound", judge_at=None))
        await mark_stale(db, await db.scalars(select(Punch.local_date)))
        rows = await db.execute(select(ClockEmployee.emp_code, ClockEmployee.id))
        ids = {row.emp_code: row.id for row in rows}
    return {"ada": ada, "ben": ben, **ids}


async def state(database, code):
    async with database.transaction() as db:
        return (await db.execute(select(Binding.state, Binding.host_employee_id).where(Binding.emp_code == code))).one()


@pytest.fixture
async def worked(database):
    """Ada, code 100, with two records; and Ben."""
    async with database.transaction() as db:
        await connect(db)
        ada, ben = await employ(db, "Ada", "1"), await employ(db, "Ben", "2")
        await mirror_person(db, "100", ada, seen=1)
        who = await bindings.id_of_code(db, "100")
        await punch(db, "100", "I 08:00, O 17:00, I Tue 08:00, O Tue 17:00")
    await import_due(database.transaction)
    return {"ada": ada, "ben": ben, "100": who}


def foretold(html):
    """The numbers that a question carries along."""
    return re.search(r'name="foretold" value="([^"]*)"', html)[1]


async def owners(database):
    async with database.transaction() as db:
        live = AttendanceRecord.deleted_at.is_(None)
        return list(await db.scalars(select(AttendanceRecord.employee_id).where(live)))


async def approve_one(database):
    async with database.transaction() as db:
        first = await db.scalar(select(func.min(AttendanceRecord.id)))
        await attendance.decide(db, COMMAND_LINE, [first], "approved")


def is_plain(html):
    """True of a question whose answer destroys nothing."""
    return "confirm-plain" in html and "confirm-danger" not in html and "btn-danger" not in html


def codes(html):
    return re.findall(r'<a class="mono text-break"[^>]*>([^<]+)</a>', html)


FOUND = [
    ("q=cleo", ["901"]),
    ("q=lovelace", ["100"]),
    ("state=suggested", ["900"]),
    ("state=suggested&state=ignored", ["900", "999"]),
    ("state=not_found", ["901", "902"]),
    ("state=not_found&absent=no", ["901"]),
    ("absent=only", ["902"]),
    ("absent=all", ["901", "900", "999", "902", "100"]),
    ("department=D1", ["100"]),
    ("method=id_number", ["100"]),
    ("enrolled=face", ["100"]),
    ("enrolled=none&absent=all", ["900", "999", "902"]),
    ("waiting=1", ["901", "900"]),
    ("sort=code", ["100", "900", "901", "999"]),
    ("sort=last_punch&q=c", ["999", "901", "100"]),
    ("state=nonsense", []),
]


class TestList:
    async def test_what_costs_most_comes_first_and_absent_people_are_left_out(self, bob, floor):
        page = await bob.get("/clock_employees")
        assert page.status_code == 200
        assert codes(page.text) == ["901", "900", "999", "100"]
        assert "1 person is no longer on the server. Only a filter shows them." in page.text

    async def test_htmx_gets_the_list_alone(self, bob, floor):
        fragment = (await bob.fragment("/clock_employees")).text
        assert "<html" not in fragment
        assert 'id="clock-employees-results"' in fragment

    async def test_filters_and_sorts(self, bob, floor, subtests):
        for query, found in FOUND:
            with subtests.test(query):
                page = await bob.get(f"/clock_employees?{query}")
                assert page.status_code == 200
                assert codes(page.text) == found

    async def test_every_state_s_link_shows_as_many_as_are_counted(self, bob, floor, database):
        from app.clock.figures.status import binding_counts

        async with database.transaction() as db:
            counts = await binding_counts(db)
        for word, number in counts.items():
            assert len(codes((await bob.get(f"/clock_employees?state={word}")).text)) == number

    async def test_rows_show_enrolment_in_words_the_remote_flag_and_the_zone(self, bob, floor, database):
        async with database.transaction() as db:
            await db.execute(update(ClockEmployee).where(ClockEmployee.emp_code == "999").values(active=False))
        page = (await bob.get("/clock_employees")).text
        assert 'aria-label="Face"' in page
        assert "Off on server" in page
        assert "Europe/Berlin" in page

    async def test_the_export_holds_the_filtered_rows(self, bob, floor):
        answer = await bob.get("/clock_employees?export=csv&state=auto_matched")
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert [(row["Code"], row["Host employee"], row["Enrolled"]) for row in rows] == [
            ("100", "Ada Lovelace", "Face")
        ]

    async def test_a_page_costs_three_selects_besides_the_session(self, bob, floor, executed):
        await bob.get("/clock_employees")
        selects = [one for one, _ in executed if one.lstrip().upper().startswith("SELECT") and "set_config" not in one]
        assert len(selects) <= 4, selects

    async def test_a_list_without_people_says_what_to_do(self, bob, database):
        assert "Connect a server" in (await bob.get("/clock_employees")).text
        async with database.transaction() as db:
            await connect(db)
        assert "Open the Sync Center" in (await bob.get("/clock_employees")).text


class TestDrawer:
    async def test_it_says_how_the_binding_was_decided_with_candidates_history_and_punches(self, bob, floor):
        page = (await bob.get(f"/clock_employees/{floor['900']}")).text
        assert "Ben Okri is similar by name (100 of 100)" in page
        assert 'aria-label="Accept Ben Okri"' in page
        # Two of one name are told apart by what stands beside them.
        assert "200 · 100 of 100" in page
        assert "Unbound → <strong>Suggested</strong>" in page.replace("\n", " ")
        assert "Mon 2 Mar" in page
        fragment = (await bob.fragment(f"/clock_employees/{floor['900']}")).text
        assert fragment.lstrip().startswith('<article class="drawer-page">')

    async def test_accepting_in_the_drawer_shows_it_again_and_tells_the_list(self, bob, floor, database):
        url = f"/clock_employees/{floor['900']}/accept"
        answer = await bob.submit(url, headers=HTMX)
        assert (answer.status_code, answer.headers["hx-trigger"]) == (200, "muster:changed")
        assert "900 was bound to Ben Okri." in answer.text
        assert await state(database, "900") == ("bound", floor["ben"])

    async def test_without_script_an_act_goes_back_to_where_one_came_from(self, bob, floor):
        url = f"/clock_employees/{floor['900']}"
        assert (await bob.submit(f"{url}/accept")).headers["location"] == url
        back = "/clock_employees?state=bound"
        assert (await bob.submit(f"{url}/clear", {"back": back})).headers["location"] == back
        evil = await bob.submit(f"{url}/match_again", {"back": "//evil.example"})
        assert evil.headers["location"] == url

    async def test_dangerous_acts_are_asked_about_with_their_numbers(self, bob, floor, database):
        async with database.transaction() as db:
            await punch(db, "100", "I 08:00")
        asked = await bob.fragment(f"/clock_employees/{floor['100']}/clear")
        assert "1 link ends" in asked.text
        assert "1 other shows “Not bound” then" in asked.text
        assert await state(database, "100") == ("auto_matched", floor["ada"])
        await bob.submit(f"/clock_employees/{floor['100']}/clear")
        assert await state(database, "100") == ("unbound", None)

    @pytest.mark.parametrize(("act", "label"), [("accept", "Accept"), ("un_ignore", "Stop ignoring")])
    async def test_an_act_that_does_not_fit_the_state_is_refused(self, bob, floor, act, label):
        """By the name that its button has."""
        for method in (bob.get, bob.submit):
            answer = await method(f"/clock_employees/{floor['901']}/{act}")
            assert answer.status_code == 409
            assert f"is not found now, so “{label}” is no longer possible." in answer.text
        assert (await bob.get(f"/clock_employees/{floor['901']}/nonsense")).status_code == 404

    async def test_remarks_are_saved_in_place(self, bob, floor, database):
        url = f"/clock_employees/{floor['901']}/remarks"
        assert "The remarks were saved." in (await bob.submit(url, {"remarks": "Day shift"}, headers=HTMX)).text
        async with database.transaction() as db:
            assert await db.scalar(select(ClockEmployee.remarks).where(ClockEmployee.emp_code == "901")) == "Day shift"
        assert (await bob.submit(url, {"remarks": "x" * 2001}, headers=HTMX)).status_code == 422

    async def test_names_are_shown_as_text(self, bob, database):
        async with database.transaction() as db:
            await mirror_person(db, "<b>", full_name='<script>alert("x")</script>')
            who = await bindings.id_of_code(db, "<b>")
        for url in ("/clock_employees", f"/clock_employees/{who}"):
            assert "<script>alert" not in (await bob.get(url)).text


class TestBind:
    async def test_search_finds_people_by_name_number_and_department(self, bob, floor):
        for words in ("okri", "200", "ben ok"):
            found = (await bob.fragment(f"/clock_employees/hosts?q={words}")).text
            assert f'data-value="#{floor["ben"]}"' in found
            assert "Ada" not in found
        assert "has code 100" in (await bob.fragment("/clock_employees/hosts?q=ada")).text
        # No employee has all of these words; a person may be written in another way on the clock.
        other = (await bob.fragment("/clock_employees/hosts?q=benjamin j okri")).text
        assert f'data-value="#{floor["ben"]}"' in other
        assert "Ada" not in other
        assert "No person found" in (await bob.fragment("/clock_employees/hosts?q=b j")).text

    async def test_where_no_match_is_proposed_the_drawer_shows_who_shares_a_part_of_the_name(
        self, alice, bob, floor, database
    ):
        async with database.transaction() as db:
            await employ(db, "Cleopatra Marsh", "300")
        page = (await bob.get(f"/clock_employees/{floor['901']}")).text
        assert "Employees who share a part of the name" in page
        assert page.count("Cleopatra Marsh") == 2
        # They were not found by the match pass: where one may, adding the person leads.
        leading = f'btn btn-primary" href="/clock_employees/{floor["901"]}/add'
        assert leading in (await alice.get(f"/clock_employees/{floor['901']}")).text
        assert 'data-look-for="Cleo Marsh"' in page
        # A proposal of the match pass stands alone.
        assert "Employees who share a part of the name" not in (await bob.get(f"/clock_employees/{floor['900']}")).text
        assert "No person found" in (await bob.fragment("/clock_employees/hosts?q=%25")).text

    async def test_the_owner_of_the_number_who_left_leads_and_add_is_not_offered(self, bob, vera, floor, database):
        async with database.transaction() as db:
            gone = await employ(db, "Cleo Gone", "901", active=False)
            await employ(db, "Cleo Other", "77")
        url = f"/clock_employees/{floor['901']}"
        page = squeezed((await bob.get(url)).text)
        owner = page.partition("Who has this ID number")[2].partition("</ul>")[0]
        assert f'href="/people/{gone}"' in owner
        assert 'btn-primary" type="submit" data-leads-on aria-label="Activate and bind Cleo Gone"' in owner
        assert page.count("btn-primary") == 1
        assert "Cleo Gone" not in page.partition("Employees who share a part of the name")[2].partition("</ul>")[0]
        assert "Add as employee…" not in page
        assert "Activate and bind" not in (await vera.get(url)).text

    async def test_binding_an_inactive_employee_says_what_the_punches_will_show(self, bob, floor, database):
        async with database.transaction() as db:
            gone = await employ(db, "Cleo Gone", "901", active=False)
        url, host = f"/clock_employees/{floor['901']}/bind", {"host": f"#{gone}"}
        asked = squeezed((await bob.submit(url, host, headers=HTMX)).text)
        assert (
            "Cleo Gone is inactive. Unless you activate them, 2 punches that wait will show “Employee inactive”."
            in asked
        )
        assert "btn-danger" not in asked
        assert 'name="activate" value="1" checked' in asked
        assert tuple(await state(database, "901")) == ("not_found", None)
        agreed = {**host, "confirmed": "1", "foretold": foretold(asked), "inactive": "1"}
        assert '<input type="hidden" name="inactive" value="1">' in asked
        await bob.submit(url, agreed)
        assert (await state(database, "901")).host_employee_id == gone
        async with database.transaction() as db:
            assert not await db.scalar(select(Employee.active).where(Employee.id == gone))
            await bindings.clear(db, COMMAND_LINE, [floor["901"]])
        await bob.submit(url, {**agreed, "activate": "1"})
        async with database.transaction() as db:
            assert await db.scalar(select(Employee.active).where(Employee.id == gone))

    async def test_who_was_asked_about_something_else_is_told_that_the_employee_is_inactive_now(
        self, bob, floor, database
    ):
        async with database.transaction() as db:
            cleo = await employ(db, "Cleo Gone", "55")
            await mirror_person(db, "955", cleo, full_name="Cleo Gone")
        url, host = f"/clock_employees/{floor['901']}/bind", {"host": f"#{cleo}"}
        asked = squeezed((await bob.submit(url, host, headers=HTMX)).text)
        assert "has 955 already" in asked
        async with database.transaction() as db:
            await db.execute(update(Employee).values(active=False).where(Employee.id == cleo))
        agreed = {**host, "confirmed": "1", "foretold": foretold(asked)}
        asked = squeezed((await bob.submit(url, agreed, headers=HTMX)).text)
        assert "Cleo Gone is inactive" in asked
        assert tuple(await state(database, "901")) == ("not_found", None)
        await bob.submit(url, {**agreed, "inactive": "1"})
        assert (await state(database, "901")).host_employee_id == cleo

    @pytest.mark.parametrize("given", ["picked", "typed"])
    async def test_binding_by_a_picked_person_or_a_typed_id_number(self, bob, floor, database, given):
        host = f"#{floor['ben']}" if given == "picked" else "200"
        answer = await bob.submit(f"/clock_employees/{floor['901']}/bind", {"host": host}, headers=HTMX)
        assert "901 is bound to Ben Okri now." in answer.text
        assert await state(database, "901") == ("bound", floor["ben"])

    @pytest.mark.parametrize(
        ("host", "sentence"), [("", "Choose a host employee"), ("777", "No employee has the ID number")]
    )
    async def test_no_choice_and_no_match_are_said_in_place(self, bob, floor, host, sentence):
        answer = await bob.submit(f"/clock_employees/{floor['901']}/bind", {"host": host}, headers=HTMX)
        assert answer.status_code == 422
        assert re.search(rf'id="f-host-error">.*{sentence}', answer.text, re.DOTALL)
        assert re.search(r'id="f-host"[^>]* autofocus', answer.text)

    async def test_an_id_number_that_two_people_share_is_refused(self, bob, floor, database):
        async with database.transaction() as db:
            await employ(db, "Ben Other", "200")
        answer = await bob.submit(f"/clock_employees/{floor['901']}/bind", {"host": "200"}, headers=HTMX)
        assert (answer.status_code, "Two people share" in answer.text) == (422, True)

    async def test_a_re_binding_says_what_it_does_to_which_records_before_it_does_it(self, bob, database):
        async with database.transaction() as db:
            await connect(db)
            ada, ben = await employ(db, "Ada", "1"), await employ(db, "Ben", "2")
            await mirror_person(db, "100", ada, seen=1)
            who = await bindings.id_of_code(db, "100")
            await punch(db, "100", "I 08:00, O 17:00, O Tue 17:00")
        await import_due(database.transaction)
        url, host = f"/clock_employees/{who}/bind", {"host": f"#{ben}"}
        asked = (await bob.submit(url, host)).text
        assert "2 punches are part of 1 record of Ada." in asked
        assert is_plain(asked)
        assert "Their punches show “Arrived after import” until someone decides." in asked
        assert "1 other punch is judged as Ben&#39;s" in asked
        assert await state(database, "100") == ("bound", ada)
        await bob.submit(url, host | {"confirmed": "1"})
        assert await state(database, "100") == ("bound", ben)
        await import_due(database.transaction)
        async with database.transaction() as db:
            assert [word for _, word in await outcomes(db)] == ["arrived_late", "arrived_late", "only_one_punch"]

    async def test_binding_somebody_who_is_auto_matched_elsewhere_warns_first(self, bob, floor):
        answer = await bob.submit(f"/clock_employees/{floor['901']}/bind", {"host": f"#{floor['ada']}"})
        assert "Ada Lovelace is auto-matched to 100" in answer.text

    async def test_binding_to_somebody_who_has_another_code_asks_and_names_it(self, bob, floor, database):
        async with database.transaction() as db:
            await mirror_person(db, "700", floor["ben"])
        url, host = f"/clock_employees/{floor['901']}/bind", {"host": f"#{floor['ben']}"}
        for headers in ({}, HTMX):
            asked = await bob.submit(url, host, headers=headers)
            assert "Ben Okri has 700 already" in asked.text
            assert await state(database, "901") == ("not_found", None)
        assert (await bob.submit(url, host | {"confirmed": "1"})).status_code == 303
        assert await state(database, "901") == ("bound", floor["ben"])

    async def test_the_drawer_names_the_similar_person_with_their_code_and_refuses_a_stale_suggestion(
        self, bob, floor, database
    ):
        url = f"/clock_employees/{floor['900']}"
        async with database.transaction() as db:
            await mirror_person(db, "700", floor["ben"])
        stale = await bob.submit(f"{url}/accept", headers=HTMX)
        assert (stale.status_code, "900 stays as it is: Ben Okri has the code 700." in stale.text) == (409, True)
        async with database.transaction() as db:
            await bindings.match_all(db)
        page = (await bob.get(url)).text
        assert 'has code <span class="mono text-break">700</span>, so is not suggested' in page
        assert 'aria-label="Bind Ben Okri"' in page
        assert 'aria-label="Accept Ben Okri"' not in page

    async def test_a_re_binding_offers_to_take_the_records_back_or_to_move_them(self, bob, worked, database):
        url, host = f"/clock_employees/{worked['100']}/bind", {"host": f"#{worked['ben']}"}
        asked = (await bob.submit(url, host)).text
        assert "Take back 2 records" in asked
        assert "Move 2 records to Ben" in asked
        assert re.search(r'value="leave" checked', asked)
        agreed = host | {"confirmed": "1", "records": "move", "foretold": foretold(asked)}
        answer = await bob.submit(url, agreed, headers=HTMX)
        assert "100 is bound to Ben now. 2 records were moved." in answer.text
        assert await owners(database) == [worked["ben"], worked["ben"]]

    async def test_what_can_not_be_moved_says_why(self, bob, worked, database):
        async with database.transaction() as db:
            await mirror_person(db, "200", worked["ben"])
            await punch(db, "200", "I 07:00, O 16:00, I Tue 07:00, O Tue 16:00")
        await import_due(database.transaction)
        url = f"/clock_employees/{worked['100']}/bind"
        asked = (await bob.submit(url, {"host": f"#{worked['ben']}"})).text
        assert "Take back 2 records" in asked
        assert "None can be moved. 2 stay: 2 overlapping a record of the new person." in asked
        assert 'value="move"' not in asked

    async def test_numbers_that_changed_meanwhile_are_asked_about_again(self, bob, worked, database):
        url, host = f"/clock_employees/{worked['100']}/bind", {"host": f"#{worked['ben']}"}
        seen = foretold((await bob.submit(url, host)).text)
        await approve_one(database)
        asked = (await bob.submit(url, host | {"confirmed": "1", "records": "take_back", "foretold": seen})).text
        assert "Take back 1 record<" in asked
        assert "1 stays: 1 approved, rejected or auto-closed." in asked
        assert await state(database, "100") == ("bound", worked["ada"])


class TestTakingBack:
    async def test_clearing_offers_it_with_the_numbers_and_the_drawer_tells_what_stayed(self, bob, worked, database):
        await approve_one(database)
        url = f"/clock_employees/{worked['100']}"
        asked = (await bob.fragment(f"{url}/clear")).text
        assert "Take back 1 record<" in asked
        assert "They are deleted, and their punches are “Not bound”. 1 stays: 1 approved" in asked
        answer = await bob.submit(f"{url}/clear", {"records": "take_back", "foretold": foretold(asked)}, headers=HTMX)
        assert "100 was cleared. 1 record was taken back. 1 stays: 1 approved, rejected or auto-closed." in answer.text
        (link,) = set(re.findall(r"/clock_employees/acts/\d+", answer.text))
        page = (await bob.get(link)).text
        assert "Approved, rejected or auto-closed" in page
        assert len(re.findall(r'href="/attendance/\d+"', page)) == 1
        assert "Which stay" in answer.text
        assert "Which stay" in (await bob.fragment(link)).text
        assert "Which stay" not in page
        assert await owners(database) == [worked["ada"]]

    async def test_clearing_that_says_nothing_leaves_the_records(self, bob, worked, database):
        await bob.submit(f"/clock_employees/{worked['100']}/clear")
        assert await owners(database) == [worked["ada"], worked["ada"]]
        assert "acts/" not in (await bob.get(f"/clock_employees/{worked['100']}")).text

    async def test_many_codes_at_once_lead_to_what_became_of_the_records(self, bob, worked, database):
        chosen = {"action": "clear", "id": worked["100"]}
        asked = (await bob.submit("/clock_employees/bulk", chosen, headers=HTMX)).text
        assert "Take back 2 records" in asked
        agreed = chosen | {"number": "1", "confirmed": "1", "records": "take_back", "foretold": foretold(asked)}
        answer = await bob.submit("/clock_employees/bulk", agreed)
        assert answer.headers["location"].startswith("/clock_employees/acts/")
        assert "2 records were taken back." in (await bob.get(answer.headers["location"])).text
        assert await owners(database) == []

    async def test_a_long_one_shows_how_far_it_is_where_it_began(self, bob, worked, database, monkeypatch):
        monkeypatch.setattr(long_acts, "INLINE_LIMIT", 1)
        url = f"/clock_employees/{worked['100']}"
        asked = (await bob.fragment(f"{url}/clear")).text
        answer = await bob.submit(f"{url}/clear", {"records": "take_back", "foretold": foretold(asked)}, headers=HTMX)
        assert "2 records: a job does it, and the page shows its progress." in answer.text
        (link,) = set(re.findall(r"/clock_employees/acts/\d+", answer.text))
        assert "0 of 2 records" in answer.text
        assert f'hx-get="{link}" hx-trigger="load"' in (await bob.get("/clock_employees")).text
        assert 'http-equiv="refresh"' in (await bob.get(link)).text
        await long_work.carry_on(database.transaction, int(link.rpartition("/")[2]))
        now = (await bob.fragment(link)).text
        assert ("2 records were taken back." in now, "hx-trigger" in now) == (True, False)
        assert "acts/" not in (await bob.get("/clock_employees")).text

    async def test_it_ends_when_the_person_may_no_longer_add_employees(self, bob, floor, database, parts, monkeypatch):
        monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
        act_id = await begin(bob, "/clock_employees/bulk", {"action": "add", "all": "1"})
        async with database.shared_transaction() as db:
            kept = func.array_remove(Role.permissions, "host.people")
            await db.execute(update(Role).where(Role.name == "Operator").values(permissions=kept))
        await carry_on(parts, act_id)
        async with database.transaction() as db:
            over = await progress_of.read(db, act_id)
            assert await db.scalar(select(func.count()).where(LongActItem.act_id == act_id)) == 0
        assert over.problem == "Bob Brandt may no longer do this."
        assert (over.done, over.looked_at) == (0, 0)

    async def test_acts_belong_to_their_workspace_and_to_who_may_see_people(self, eve, vera, visitor, worked, database):
        async with database.transaction() as db:
            _, progress = await undoing.clear(db, COMMAND_LINE, [worked["100"]])
        link = f"/clock_employees/acts/{progress.id}"
        assert (await vera.get(link)).status_code == 200
        assert (await eve.get(link)).status_code == 404
        assert (await visitor.get(link)).headers["location"].startswith("/sign-in")


class TestBulk:
    async def test_suggestions_that_name_one_employee_are_left_and_the_question_says_so(self, bob, floor, database):
        async with database.transaction() as db:
            await mirror_person(db, "800", full_name="Ben Okri", seen=1)
            await bindings.match_all(db)
        url, chosen = "/clock_employees/bulk?state=suggested&state=auto_matched", {"action": "accept", "all": "1"}
        asked = (await bob.submit(url, chosen, headers=HTMX)).text
        assert "Accept: 3 people?" in asked
        assert "1 code is bound. 800, 900 stay as they are: each of them names Ben Okri." in asked
        await bob.submit(url, chosen | {"number": "3", "confirmed": "1"})
        assert "1 code was bound. 800, 900 stay as they are" in (await bob.get("/clock_employees")).text
        assert [(await state(database, code)).state for code in ("100", "800", "900")] == [
            "bound",
            "suggested",
            "suggested",
        ]
        refused = await bob.submit("/clock_employees/bulk?state=suggested", chosen)
        assert (refused.status_code, "800, 900 stay as they are" in refused.text) == (409, True)

    async def test_the_confirmation_says_the_number_and_only_then_it_happens(self, bob, floor, database):
        chosen = {"action": "accept", "id": [floor["100"], floor["900"], floor["901"]]}
        asked = await bob.submit("/clock_employees/bulk", chosen, headers=HTMX)
        assert "Accept: 2 people?" in asked.text
        assert (await state(database, "100")).state == "auto_matched"
        answer = await bob.submit("/clock_employees/bulk", chosen | {"number": "2", "confirmed": "1"})
        assert answer.headers["location"] == "/clock_employees"
        assert [(await state(database, code)).state for code in ("100", "900", "901")] == [
            "bound",
            "bound",
            "not_found",
        ]

    async def test_the_whole_filter_is_meant_and_nothing_beyond_it(self, bob, floor, database):
        url = "/clock_employees/bulk?state=not_found&absent=no"
        chosen = {
            "action": "ignore",
            "all": "1",
            "number": "1",
            "confirmed": "1",
            "back": "/clock_employees?state=ignored",
        }
        assert (await bob.submit(url, chosen)).headers["location"] == "/clock_employees?state=ignored"
        assert [(await state(database, code)).state for code in ("901", "902", "900")] == [
            "ignored",
            "not_found",
            "suggested",
        ]

    async def test_rows_that_came_meanwhile_are_asked_about_again(self, bob, floor, database):
        chosen = {"action": "ignore", "all": "1", "number": "7", "confirmed": "1"}
        assert "Ignore: 3 people?" in (await bob.submit("/clock_employees/bulk", chosen)).text
        assert (await state(database, "901")).state == "not_found"

    @pytest.mark.parametrize(
        ("act", "becomes"),
        [("reject", "unbound"), ("clear", "unbound"), ("match_again", "auto_matched"), ("ignore", "ignored")],
    )
    async def test_every_bulk_act_reaches_its_verb(self, bob, floor, database, act, becomes):
        chosen = {"action": act, "id": floor["100"], "number": "1", "confirmed": "1"}
        assert (await bob.submit("/clock_employees/bulk", chosen)).status_code == 303
        assert (await state(database, "100")).state == becomes

    async def test_nothing_selected_and_nothing_that_fits_are_refused(self, bob, floor):
        assert (await bob.submit("/clock_employees/bulk", {"action": "accept"})).status_code == 422
        assert (await bob.submit("/clock_employees/bulk", {"action": "accept", "id": floor["901"]})).status_code == 422
        assert (await bob.submit("/clock_employees/bulk", {"action": "explode", "id": floor["901"]})).status_code == 404


class TestSchedule:
    async def test_this_week_is_read_from_the_server_when_asked_for(self, bob, parts, database):
        async with site(parts) as here:
            await here.sync_people()
            who = (await here.rows("SELECT id FROM clock_employees WHERE absent_since IS NULL ORDER BY emp_code"))[0].id
            drawer = (await bob.get(f"/clock_employees/{who}")).text
            assert f'hx-get="/clock_employees/{who}/schedule"' in drawer
            answer = await bob.fragment(f"/clock_employees/{who}/schedule")
            assert "<html" not in answer.text
            assert len(re.findall(r'<th scope="row"', answer.text)) >= 7
            assert re.search(r"\d\d:\d\d–\d\d:\d\d", answer.text)
            calls = await here.rows("SELECT path, run_id FROM clock_api_logs ORDER BY id DESC LIMIT 1")
            assert (calls[0].path, calls[0].run_id) == ("/web/att/api/v2/schedules/", None)

    async def test_a_server_that_fails_is_said_in_place_with_its_code(self, bob, parts, database):
        async with site(parts) as here:
            await here.sync_people()
            who = await here.scalar("SELECT min(id) FROM clock_employees")
        answer = await bob.fragment(f"/clock_employees/{who}/schedule")
        assert answer.status_code == 200
        assert "TC-NET" in answer.text

    async def test_servers_without_schedules_are_not_asked(self, bob, parts, database):
        async with database.transaction() as db:
            await connect(db)
            await db.execute(update(Connection).values(profile="onprem"))
            await mirror_person(db, "1")
            who = await bindings.id_of_code(db, "1")
        assert "schedule" not in (await bob.get(f"/clock_employees/{who}")).text
        assert (await bob.get(f"/clock_employees/{who}/schedule")).status_code == 404


class TestWhoMay:
    async def test_a_viewer_sees_and_cannot_act(self, vera, floor, database):
        page = (await vera.get("/clock_employees")).text
        assert codes(page)
        assert "data-bulk-item" not in page
        drawer = (await vera.get(f"/clock_employees/{floor['900']}")).text
        assert "Ben Okri" in drawer
        assert "/accept" not in drawer
        assert "/bind" not in drawer
        for path in ("bulk", f"{floor['900']}/accept", f"{floor['900']}/bind", f"{floor['900']}/remarks"):
            assert (await vera.submit(f"/clock_employees/{path}", {"host": "200"})).status_code == 403
        assert (await vera.get("/clock_employees/hosts?q=a")).status_code == 403
        assert (await state(database, "900")).state == "suggested"

    async def test_another_workspace_sees_nothing_of_it(self, eve, floor, database):
        assert codes((await eve.get("/clock_employees?absent=all")).text) == []
        for path in ("", "/clear", "/schedule"):
            assert (await eve.get(f"/clock_employees/{floor['100']}{path}")).status_code == 404
        for path in ("bind", "accept", "remarks"):
            assert (await eve.submit(f"/clock_employees/{floor['100']}/{path}", {"host": "1"})).status_code == 404
        chosen = {"action": "clear", "id": floor["100"], "number": "1", "confirmed": "1"}
        assert (await eve.submit("/clock_employees/bulk", chosen)).status_code == 422
        assert (await state(database, "100")).state == "auto_matched"

    async def test_strangers_sign_in_first(self, visitor):
        assert (await visitor.get("/clock_employees")).headers["location"].startswith("/sign-in")


class TestMeanwhile:
    """An act is about the person whom the page named. It asks before it overwrites what was decided meanwhile."""

    @pytest.fixture
    async def stale(self, database):
        """Code 7 is suggested to be Benn Okri's. `better()` has it suggested to be Ben Okri's."""
        async with database.transaction() as db:
            await connect(db)
            benn = await employ(db, "Benn Okri", "200")
            await mirror_person(db, "7", full_name="Okri, Ben", seen=1)
            await bindings.match_all(db)
            who = await bindings.id_of_code(db, "7")

        async def better():
            async with database.transaction() as db:
                ben = await employ(db, "Ben Okri", "300")
                await bindings.match_all(db)
                return ben

        return {"benn": benn, "who": who, "better": better}

    async def test_the_forms_of_the_drawer_and_of_the_row_name_the_person(self, bob, stale):
        named = f'name="host" value="#{stale["benn"]}"'
        drawer = (await bob.get(f"/clock_employees/{stale['who']}")).text
        assert named in drawer.split('<div class="drawer-foot">')[1].split("</form>")[0]
        row = (await bob.get("/clock_employees")).text.split("data-row-act")[1].split("</button>")[0]
        assert named in row

    @pytest.mark.parametrize("act", ["accept", "reject"])
    async def test_another_suggestion_is_neither_accepted_nor_rejected(self, bob, stale, database, act):
        await stale["better"]()
        answer = await bob.submit(f"/clock_employees/{stale['who']}/{act}", {"host": f"#{stale['benn']}"}, headers=HTMX)
        assert answer.status_code == 409
        assert "The suggestion for code 7 is Ben Okri now, no longer Benn Okri. Nothing was changed." in answer.text
        assert (await state(database, "7")).state == "suggested"

    @pytest.mark.parametrize("act", ["accept", "reject"])
    async def test_a_form_that_names_no_person_acts_as_before(self, bob, stale, database, act):
        await stale["better"]()
        assert (await bob.submit(f"/clock_employees/{stale['who']}/{act}")).status_code == 303
        assert (await state(database, "7")).state == {"accept": "bound", "reject": "unbound"}[act]

    async def test_the_question_and_the_message_of_reject_name_the_person(self, bob, stale):
        url = f"/clock_employees/{stale['who']}/reject"
        asked = (await bob.fragment(url)).text
        assert "Reject Benn Okri for 7 Okri, Ben?" in asked
        host = re.search(r'name="host" value="([^"]*)"', asked)[1]
        assert host == f"#{stale['benn']}"
        await bob.submit(url, {"host": host})
        assert "Benn Okri was rejected for code 7." in (await bob.get("/clock_employees")).text

    async def test_a_link_to_somebody_else_is_not_cleared(self, alice, bob, stale, database):
        url = f"/clock_employees/{stale['who']}"
        await alice.submit(f"{url}/accept")
        asked = (await alice.fragment(f"{url}/clear")).text
        ben = await stale["better"]()
        await bob.submit(f"{url}/bind", {"host": f"#{ben}"})
        answer = await alice.submit(f"{url}/clear", {"host": re.search(r'name="host" value="([^"]*)"', asked)[1]})
        assert answer.status_code == 409
        assert "The code 7 belongs to Ben Okri now, no longer to Benn Okri. Nothing was changed." in answer.text
        assert await state(database, "7") == ("bound", ben)

    async def test_who_binds_a_code_that_somebody_bound_meanwhile_is_asked(self, alice, bob, database):
        async with database.transaction() as db:
            await connect(db, "Europe/Berlin")
            xenia, yuri = await employ(db, "Xenia", "500"), await employ(db, "Yuri", "501")
            await mirror_person(db, "7", full_name="Somebody Else", seen=1, state="not_found")
            url = f"/clock_employees/{await bindings.id_of_code(db, '7')}"
        shown = re.search(r'name="shown" value="([^"]*)"', (await bob.fragment(url)).text)[1]
        await alice.submit(f"{url}/bind", {"host": f"#{xenia}", "shown": shown})
        asked = await bob.submit(f"{url}/bind", {"host": f"#{yuri}", "shown": shown}, headers=HTMX)
        assert await state(database, "7") == ("bound", xenia)
        assert "Bind 7 to Yuri instead of Xenia?" in asked.text
        assert is_plain(asked.text)
        assert re.search(r"Alice Ahn bound it to Xenia on \w+ \d+ \w+, \d\d:\d\d\.", asked.text)
        now = re.search(r'name="shown" value="([^"]*)"', asked.text)[1]
        # Even agreed, as long as the answer does not come from this question.
        await bob.submit(f"{url}/bind", {"host": f"#{yuri}", "shown": shown, "confirmed": "1"}, headers=HTMX)
        assert await state(database, "7") == ("bound", xenia)
        await bob.submit(f"{url}/bind", {"host": f"#{yuri}", "shown": now, "confirmed": "1"}, headers=HTMX)
        assert await state(database, "7") == ("bound", yuri)
