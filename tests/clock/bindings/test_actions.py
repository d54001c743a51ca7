"""Binding verbs on real rows: what they change, what they write down,
and which punches the import must look at again."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.accounts.models import AuditEntry, Job
from app.clock.bindings import actions as bindings
from app.clock.bindings import match_pass
from app.clock.bindings.accepting import Accepting, Left
from app.clock.importing.import_due import import_due
from app.clock.models import Binding, BindingChange, ClockEmployee, Punch, StaleDay
from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from app.host.models import Employee
from app.host.people import kiosk, people
from app.host.people.people import EmployeeDetails
from tests.clock.mirrored import connect, employ, mirror_person, outcomes, punch
from tests.clock.syncing import site

BOB = Actor(2, "Bob Brandt")


@pytest.fixture
async def db(database: Database) -> AsyncIterator[AsyncSession]:
    async with database.transaction() as session:
        yield session


async def person(db, code, host=None, **more):
    """The id of a mirrored person, as the server's listing makes one."""
    await mirror_person(db, code, host, **{"seen": 1, **more})
    return await bindings.id_of_code(db, code)


async def binding(db, code):
    rows = select(Binding).where(Binding.emp_code == code).execution_options(populate_existing=True)
    return (await db.scalars(rows)).one()


async def history(db, code):
    rows = await db.execute(
        select(BindingChange.from_state, BindingChange.to_state, BindingChange.decided_by)
        .join(Binding, Binding.id == BindingChange.binding_id)
        .where(Binding.emp_code == code)
        .order_by(BindingChange.id)
    )
    return [tuple(row) for row in rows]


async def audited(db, code):
    rows = select(AuditEntry.act, AuditEntry.before, AuditEntry.after)
    found = await db.execute(rows.where(AuditEntry.subject_id == code).order_by(AuditEntry.id))
    return [tuple(row) for row in found]


async def settle(db):
    await db.execute(update(Punch).values(judge_at=None))


async def due_codes(db):
    rows = await db.scalars(select(Punch.emp_code).where(text("judge_at > 'epoch'")).distinct())
    return sorted(rows)


async def jobs_asked(db):
    return sorted(await db.scalars(select(Job.name)))


class TestMatchAll:
    async def test_the_first_pass_decides_every_code_and_says_which_conflicts_are_new(self, db):
        ada, _, _ = await employ(db, "Ada", "1"), await employ(db, "Ben", "2"), await employ(db, "Bea", "2")
        for code in ("1", "2", "3"):
            await person(db, code)
        result = await bindings.match_all(db)
        assert (result.changed, result.new_conflicts) == (("1", "2", "3"), ("2",))
        found = await binding(db, "1")
        assert (found.state, found.method, found.host_employee_id, found.decided_by) == (
            "auto_matched", "id_number", ada, "Muster",
        )  # fmt: skip
        assert found.reason == "Exactly one host employee has the ID number 1: Ada."
        assert await history(db, "2") == [("unbound", "conflict", "Muster")]

    async def test_a_second_pass_writes_nothing(self, db):
        await employ(db, "Ada Lovelace", "1")
        await person(db, "1")
        await person(db, "9", full_name="Lovelace, Ada")
        await bindings.match_all(db)
        versions = "SELECT sum(xmin::text::bigint) FROM clock_employee_bindings"
        before = await db.scalar(text(versions)), await history(db, "1"), await history(db, "9")
        assert await bindings.match_all(db) == bindings.MatchResult((), ())
        assert before == (await db.scalar(text(versions)), await history(db, "1"), await history(db, "9"))
        found = await binding(db, "9")
        assert (found.state, found.candidates, [one["name"] for one in found.taken]) == (
            "not_found",
            [],
            ["Ada Lovelace"],
        )

    async def test_a_mirrored_person_without_a_binding_gets_one(self, db):
        db.add(ClockEmployee(emp_code="5", seen=1))
        await db.flush()
        await bindings.match_all(db)
        assert await history(db, "5") == [(None, "unbound", "Muster"), ("unbound", "not_found", "Muster")]

    async def test_candidates_that_change_are_kept_without_a_line_of_history(self, db):
        ada = await employ(db, "Ada Lovelace", "1")
        await person(db, "9", full_name="Ada Lovelace")
        await bindings.match_all(db)
        await db.execute(update(Employee).where(Employee.id == ada).values(name="Ada Lovelacy"))
        result = await bindings.match_all(db)
        found = await binding(db, "9")
        assert result.changed == ()
        assert found.candidates[0]["name"] == "Ada Lovelacy"
        assert "Ada Lovelacy" in found.reason
        assert len(await history(db, "9")) == 1

    async def test_the_kiosk_the_setting_and_who_left_are_taken_from_the_host(self, db):
        ada, ben = await employ(db, "Ada", "1"), await employ(db, "Ben", "02", active=False)
        await kiosk.enrol(db, BOB, "77", ada)
        await person(db, "77")
        await person(db, "2")
        await bindings.match_all(db)
        assert ((await binding(db, "77")).method, (await binding(db, "2")).state) == ("kiosk", "not_found")
        await people.activate(db, BOB, [ben])
        await db.execute(text("INSERT INTO clock_settings VALUES ('ignore_leading_zeros', 'true')"))
        await bindings.match_all(db)
        assert (await binding(db, "2")).host_employee_id == ben

    async def test_codes_of_another_workspace_are_not_looked_at(self, db, database):
        async with database.transaction("globex") as other:
            await employ(other, "Ada", "1")
            await person(other, "1")
        await person(db, "1")
        await bindings.match_all(db)
        assert (await binding(db, "1")).state == "not_found"
        async with database.transaction("globex") as other:
            assert (await binding(other, "1")).state == "unbound"

    async def test_new_links_have_their_punches_judged_and_an_import_asked_for(self, db):
        await employ(db, "Ada", "1")
        await person(db, "1")
        await person(db, "2")
        await punch(db, "1", "I 08:00")
        await punch(db, "2", "I 08:00")
        await settle(db)
        await bindings.match_all(db)
        assert await due_codes(db) == ["1"]
        assert "clock_import" in await jobs_asked(db)


class TestActs:
    async def test_binding_writes_state_history_and_audit(self, db):
        ada = await employ(db, "Ada", "1")
        one = await person(db, "9")
        await bindings.bind(db, BOB, one, ada)
        found = await binding(db, "9")
        assert (found.state, found.method, found.host_employee_id, found.decided_by) == (
            "bound", "manual", ada, "Bob Brandt",
        )  # fmt: skip
        assert found.decided_at is not None
        assert await history(db, "9") == [("unbound", "bound", "Bob Brandt")]
        assert await audited(db, "9") == [
            (
                "binding.bind",
                {"state": "unbound", "method": None, "host_employee_id": None},
                {"state": "bound", "method": "manual", "host_employee_id": ada},
            )
        ]

    @pytest.mark.parametrize("state", ["suggested", "not_found", "conflict", "disabled"])
    async def test_any_state_without_a_link_can_be_bound(self, db, state):
        ada = await employ(db, "Ada", "1")
        await bindings.bind(db, BOB, await person(db, "9", state=state), ada)
        assert (await binding(db, "9")).state == "bound"

    async def test_an_ignored_code_a_deleted_person_and_the_same_link_are_refused(self, db):
        ada, ben = await employ(db, "Ada", "1"), await employ(db, "Ben", "2")
        await people.remove(db, BOB, [ben])
        ignored, bound, free = await person(db, "7", state="ignored"), await person(db, "8", ada), await person(db, "9")
        for who, host in ((ignored, ada), (bound, ada), (free, ben)):
            with pytest.raises(Conflict):
                await bindings.bind(db, BOB, who, host)
        for who, host in ((free, 999), (999, ada)):
            with pytest.raises(NotFound):
                await bindings.bind(db, BOB, who, host)

    async def test_inactive_people_can_be_bound_by_hand(self, db):
        ada = await employ(db, "Ada", "1", active=False)
        await bindings.bind(db, BOB, await person(db, "9"), ada)
        assert (await binding(db, "9")).host_employee_id == ada

    async def test_accepting_keeps_how_it_was_found(self, db):
        ada, ben = await employ(db, "Ada", "1"), await employ(db, "Ben Okri", "2")
        ids = [await person(db, "1"), await person(db, "9", full_name="Okri Ben"), await person(db, "8")]
        await bindings.match_all(db)
        assert (await bindings.accept(db, BOB, ids)).codes == ["1", "9"]
        assert [
            (one.state, one.method, one.host_employee_id) for one in (await binding(db, "1"), await binding(db, "9"))
        ] == [
            ("bound", "id_number", ada),
            ("bound", "name", ben),
        ]
        assert (await binding(db, "8")).state == "not_found"

    async def test_of_suggestions_that_name_one_employee_none_is_accepted(self, db):
        await employ(db, "Ben Okri", "2")
        cleo = await employ(db, "Cleo Marsh", "3")
        names = {"7": "Cleo Marsh", "8": "Ben Okri", "9": "Okri, Ben"}
        ids = [await person(db, code, full_name=name) for code, name in names.items()]
        await bindings.match_all(db)
        accepting = await bindings.accept(db, BOB, ids)
        assert (accepting.codes, accepting.left) == (["7"], (Left(("8", "9"), "Ben Okri"),))
        assert [(await binding(db, code)).host_employee_id for code in names] == [cleo, None, None]
        assert (await bindings.accept(db, BOB, ids[1:2])).codes == ["8"]

    async def test_a_part_of_many_leaves_what_another_suggestion_of_another_part_names(self, db):
        await employ(db, "Ben Okri", "2")
        cleo = await employ(db, "Cleo Marsh", "3")
        names = {"7": "Cleo Marsh", "8": "Ben Okri", "9": "Okri, Ben"}
        ids = [await person(db, code, full_name=name) for code, name in names.items()]
        await bindings.match_all(db)
        assert [(await bindings.accept_part(db, BOB, [one])).codes for one in ids] == [["7"], [], []]
        assert [(await binding(db, code)).host_employee_id for code in names] == [cleo, None, None]

    async def test_a_suggestion_that_somebody_else_has_by_now_is_refused_and_goes_with_the_next_pass(self, db):
        ben = await employ(db, "Ben Okri", "2")
        one, other = await person(db, "9", full_name="Ben Okri"), await person(db, "7")
        await bindings.match_all(db)
        await bindings.bind(db, BOB, other, ben)
        accepting = await bindings.accept(db, BOB, [one])
        assert (accepting.codes, [str(left) for left in accepting.left]) == (
            [], ["9 stays as it is: Ben Okri has the code 7."],
        )  # fmt: skip
        assert (await binding(db, "9")).state == "suggested"
        await bindings.match_all(db)
        found = await binding(db, "9")
        assert (found.state, found.candidates, [each["host_employee_id"] for each in found.taken]) == (
            "not_found", [], [ben],
        )  # fmt: skip

    async def test_an_auto_match_whose_employee_was_bound_elsewhere_is_not_accepted(self, db):
        ben = await employ(db, "Ben Okri", "2")
        one, other = await person(db, "2"), await person(db, "7")
        await bindings.match_all(db)
        await bindings.bind(db, BOB, other, ben)
        assert (await bindings.accept(db, BOB, [one])).left == (Left(("2",), "Ben Okri", ("7",)),)

    async def test_a_deleted_owner_of_the_id_number_is_named(self, db):
        ada = await employ(db, "Ada Lovelace", "1")
        await people.remove(db, BOB, [ada])
        await person(db, "1")
        await bindings.match_all(db)
        assert (await binding(db, "1")).reason == (
            "The ID number 1 belongs to Ada Lovelace, who was deleted, and no name is similar."
        )

    async def test_a_rejected_pair_is_never_proposed_again_until_a_person_binds_it(self, db):
        ada = await employ(db, "Ada", "1")
        one = await person(db, "1")
        await bindings.match_all(db)
        assert await bindings.reject(db, BOB, [one]) == ["1"]
        assert ((await binding(db, "1")).state, (await binding(db, "1")).cleared) == ("unbound", True)
        assert await bindings.match_again(db, BOB, [one]) == ["1"]
        assert ((await binding(db, "1")).state, (await binding(db, "1")).cleared) == ("unbound", True)
        await bindings.bind(db, BOB, one, ada)
        assert (await binding(db, "1")).rejected == []

    async def test_a_rejected_suggestion_makes_room_for_the_next_best(self, db):
        await employ(db, "Ada Lovelace", "1")
        second = await employ(db, "Ada Lovelac", "2")
        one = await person(db, "9", full_name="Ada Lovelace")
        await bindings.match_all(db)
        await bindings.reject(db, BOB, [one])
        await bindings.match_again(db, BOB, [one])
        found = await binding(db, "9")
        assert (found.state, found.candidates[0]["host_employee_id"]) == ("suggested", second)

    @pytest.mark.parametrize("state", ["bound", "auto_matched", "missing_remote"])
    async def test_clearing_ends_a_link_and_no_pass_touches_it_until_match_again(self, db, state):
        ada = await employ(db, "Ada", "1")
        one = await person(db, "1", ada, state=state, absent_since=None)
        assert await bindings.clear(db, BOB, [one]) == ["1"]
        found = await binding(db, "1")
        assert (found.state, found.cleared, found.host_employee_id, found.method, found.resumes) == (
            "unbound", True, None, None, None,
        )  # fmt: skip
        assert (await bindings.match_all(db)).changed == ()
        await bindings.match_again(db, BOB, [one])
        assert (await binding(db, "1")).state == "auto_matched"
        assert [to for _, to, _ in await history(db, "1")] == ["unbound", "unbound", "auto_matched"]

    async def test_ignoring_ends_a_link_and_taking_it_back_lets_the_next_pass_decide(self, db):
        ada = await employ(db, "Ada", "1")
        one = await person(db, "1", ada)
        assert await bindings.ignore(db, BOB, [one]) == ["1"]
        assert await bindings.ignore(db, BOB, [one]) == []
        assert ((await binding(db, "1")).state, (await bindings.match_all(db)).changed) == ("ignored", ())
        assert await bindings.un_ignore(db, BOB, [one]) == ["1"]
        assert (await binding(db, "1")).state == "unbound"
        await bindings.match_all(db)
        assert (await binding(db, "1")).state == "auto_matched"

    async def test_match_again_leaves_a_person_s_word_and_an_auto_match_that_still_holds(self, db):
        ada, ben = await employ(db, "Ada", "1"), await employ(db, "Ben", "2")
        ids = [await person(db, "1"), await person(db, "8", ben), await person(db, "9", state="ignored")]
        await bindings.match_all(db)
        before = await history(db, "1")
        assert await bindings.match_again(db, BOB, ids) == ["1"]
        assert (await history(db, "1"), (await binding(db, "1")).host_employee_id) == (before, ada)
        assert [(await binding(db, code)).state for code in ("8", "9")] == ["bound", "ignored"]

    async def test_match_again_leaves_the_names_of_others_to_the_pass_that_it_asks_for(self, db):
        """With very many people, comparing all names would take longer than a request may."""
        await employ(db, "Ada Lovelace", "1"), await employ(db, "Ben Okri", "2")
        one = await person(db, "8", full_name="Ada Lovelace", state="not_found")
        await person(db, "9", full_name="Ben Okri", state="not_found")
        await db.execute(delete(Job))
        assert await bindings.match_again(db, BOB, [one]) == ["8"]
        assert [(await binding(db, code)).state for code in ("8", "9")] == ["suggested", "not_found"]
        assert "clock_match" in await jobs_asked(db)

    async def test_a_pass_uses_the_names_that_were_compared_before_it(self, database):
        """Those of codes without a binding, too: a first sync brings all of them at once."""
        async with database.transaction() as db:
            await employ(db, "Ada Lovelace", "1")
            db.add(ClockEmployee(emp_code="9", seen=1, full_name="Ada Lovelace"))
        compared = await match_pass.compare_names(partial(database.transaction, "main"))
        assert {name: len(found) for name, found in compared.found.items()} == {"Ada Lovelace": 1}
        compared.found["Ada Lovelace"] = []
        async with database.transaction() as db:
            await match_pass.match_all(db, compared)
            assert (await binding(db, "9")).state == "not_found"
            await match_pass.match_all(db)
            assert (await binding(db, "9")).state == "suggested"

    async def test_acts_skip_states_they_are_not_for_and_one_person_s_page_says_so(self, db):
        one = await person(db, "1", state="not_found")
        assert await bindings.accept(db, BOB, [one, 999]) == Accepting((), ())
        for act in (bindings.reject, bindings.clear, bindings.un_ignore):
            assert await act(db, BOB, [one, 999]) == []
        with pytest.raises(Conflict, match="not found"):
            await bindings.refuse_unless_open(db, "clear", one)
        with pytest.raises(NotFound):
            await bindings.refuse_unless_open(db, "clear", 999)
        assert await history(db, "1") == await audited(db, "1") == []

    async def test_remarks_are_kept_and_audited_once(self, db):
        one = await person(db, "1")
        assert await bindings.set_remarks(db, BOB, one, "  Night shift ")
        assert not await bindings.set_remarks(db, BOB, one, "Night shift")
        assert await bindings.set_remarks(db, BOB, one, "")
        acts = await audited(db, str(one))
        assert [(act, after["remarks"]) for act, _, after in acts] == [
            ("binding.remarks", "Night shift"), ("binding.remarks", None),
        ]  # fmt: skip
        with pytest.raises(Invalid):
            await bindings.set_remarks(db, BOB, one, "x" * 2001)
        with pytest.raises(NotFound):
            await bindings.set_remarks(db, BOB, 999, "x")


class TestPunchesAreJudgedAgain:
    async def test_rebinding_shows_old_punches_as_arrived_after_import_and_judges_the_rest_as_new(self, database):
        async with database.transaction() as db:
            await connect(db)
            ada, ben = await employ(db, "Ada", "1"), await employ(db, "Ben", "2")
            one = await person(db, "100", ada)
            await punch(db, "100", "I 08:00, O 17:00, O Tue 17:00")
        await import_due(database.transaction)
        async with database.transaction() as db:
            assert [word for _, word in await outcomes(db)] == ["imported", "imported", "only_one_punch"]
            await db.execute(text("DELETE FROM clock_stale_days"))
            await bindings.bind(db, BOB, one, ben)
            assert [word for _, word in await outcomes(db)] == ["imported", "imported", None]
        async with database.transaction() as db:
            assert len((await db.scalars(select(StaleDay.local_date))).all()) == 1
        await import_due(database.transaction)
        async with database.transaction() as db:
            assert [word for _, word in await outcomes(db)] == ["arrived_late", "arrived_late", "only_one_punch"]
            await bindings.bind(db, BOB, one, ada)
        await import_due(database.transaction)
        async with database.transaction() as db:
            assert [word for _, word in await outcomes(db)] == ["imported", "imported", "only_one_punch"]

    async def test_clearing_leaves_what_stands_and_says_not_bound_for_the_rest(self, database):
        async with database.transaction() as db:
            await connect(db)
            one = await person(db, "100", await employ(db, "Ada", "1"))
            await punch(db, "100", "I 08:00, O 17:00, O Tue 17:00")
        await import_due(database.transaction)
        async with database.transaction() as db:
            await bindings.clear(db, BOB, [one])
        await import_due(database.transaction)
        async with database.transaction() as db:
            assert [word for _, word in await outcomes(db)] == ["imported", "imported", "not_bound"]

    async def test_binding_again_to_the_same_person_marks_only_what_waits(self, db):
        ada = await employ(db, "Ada", "1")
        one = await person(db, "100")
        await punch(db, "100", "I 08:00, O 17:00")
        record = await db.scalar(
            text(
                "INSERT INTO attendance_records (employee_id, workday, clock_in, source)"
                " VALUES (:who, '2026-03-02', '2026-03-02 08:00Z', 'clock') RETURNING id"
            ),
            {"who": ada},
        )
        await settle(db)
        first = await db.scalar(select(Punch.id).order_by(Punch.id).limit(1))
        await db.execute(
            update(Punch).where(Punch.id == first).values(host_attendance_id=record, import_outcome="imported")
        )
        await bindings.bind(db, BOB, one, ada)
        marked = (await db.scalars(select(Punch.id).where(text("judge_at > 'epoch'")))).all()
        assert marked == [first + 1]

    async def test_what_waits_on_an_owner_s_other_codes_is_judged_again_too(self, db):
        ada = await employ(db, "Ada", "1")
        one = await person(db, "100", ada)
        await person(db, "101", ada)
        await person(db, "200", await employ(db, "Ben", "2"))
        for code in ("100", "101", "200"):
            await punch(db, code, "I 08:00")
        await settle(db)
        await bindings.clear(db, BOB, [one])
        assert await due_codes(db) == ["100", "101"]


class TestWhatTheHostTells:
    async def test_a_person_who_leaves_has_waiting_punches_judged_and_a_pass_asked_for(self, app, db):
        ada = await employ(db, "Ada", "1")
        await person(db, "100", ada)
        await person(db, "200", await employ(db, "Ben", "2"))
        await punch(db, "100", "I 08:00")
        await punch(db, "200", "I 08:00")
        await settle(db)
        await people.deactivate(db, BOB, [ada])
        assert await due_codes(db) == ["100"]
        assert await jobs_asked(db) == ["clock_import", "clock_match"]

    async def test_new_people_and_kiosk_codes_ask_for_a_pass(self, app, db):
        await person(db, "100")
        ada = await people.add(db, BOB, EmployeeDetails("1", "Ada"))
        assert await jobs_asked(db) == ["clock_match"]
        await db.execute(text("DELETE FROM jobs"))
        await kiosk.enrol(db, BOB, "100", ada)
        assert await jobs_asked(db) == ["clock_match"]
        await bindings.match_all(db)
        assert (await binding(db, "100")).method == "kiosk"

    async def test_nothing_is_asked_for_where_no_code_is_mirrored(self, app, db):
        await people.add(db, BOB, EmployeeDetails("1", "Ada"))
        assert await jobs_asked(db) == []


async def test_a_pass_waits_for_the_act_that_is_under_way_and_sees_it(database):
    async with database.transaction() as db:
        await employ(db, "Ada", "1")
        ben = await employ(db, "Ben", "2")
        one = await person(db, "1")
    async with database.transaction() as db:
        await bindings.bind(db, BOB, one, ben)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_pass(database))
            await asyncio.sleep(0.05)
            await db.commit()
    async with database.transaction() as db:
        assert (await binding(db, "1")).host_employee_id == ben


async def _pass(database):
    async with database.transaction() as db:
        await bindings.match_all(db)


async def test_a_run_matches_whom_it_mirrored_and_is_partial_once_for_a_new_conflict(parts):
    async with site(parts) as here:
        first, second = here.world.people[0].code, here.world.people[1].code
        async with parts.database.transaction() as db:
            await employ(db, "Host One", first)
            await employ(db, "Host Two", second)
            await employ(db, "Host Twin", second)
        end = await here.sync_people()
        assert (end.status, end.code) == ("partial", "TC-CONFLICT")
        async with parts.database.transaction() as db:
            assert [(await binding(db, code)).state for code in (first, second)] == ["auto_matched", "conflict"]
        here.let_pass(minutes=15)
        again = await here.sync_people()
        assert (again.status, again.code) == ("succeeded", None)
