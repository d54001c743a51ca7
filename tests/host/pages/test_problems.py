"""The page `/problems`: kinds as groups, one kind as a list, one problem, what people do with them,
and who sees which."""

import html
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import func, insert, select, text, update

from app.accounts import accounts, roles
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job, WorkerHeartbeat
from app.clock.bindings import actions as bindings
from app.clock.models import Device
from app.db.session import Database
from app.host.pages.problems import page as problem_page
from app.host.pages.problems import places, snoozes
from app.problems import counting, looking
from app.problems.count_models import ProblemCount
from app.problems.models import Problem, ProblemChange
from app.problems.transitions import UNTIL_IT_CHANGES
from tests.clock.mirrored import employ, mirror_person, mirror_terminal
from tests.clock.problems.days import stay
from tests.conftest import BASE_URL, Browser
from tests.host.signing_in import user_id_of
from tests.markup import squeezed

JOBS = ("job_failed", "import_failed")
ZAGREB = ZoneInfo("Europe/Zagreb")


async def have(database: Database, kind: str, number: int, workspace: str = "main", **given: Any) -> list[int]:
    values = {"kind": kind, "subject_type": "job", "severity": "warning", "since": datetime.now(UTC), **given}
    values["facts"] = {"job": 1, **given.get("facts", {})}
    rows = [{**values, "subject_id": f"{kind}-{n}", "title": f"{kind} {n} broke"} for n in range(number)]
    async with database.transaction(workspace) as db:
        ids = await db.scalars(insert(Problem).returning(Problem.id), rows)
        await counting.count_again(db, [kind])
        return list(ids)


async def fail_a_job(database: Database) -> None:
    """And have it found."""
    async with database.transaction() as db:
        row = {
            "workspace": "main",
            "name": "housekeeping",
            "key": "housekeeping",
            "status": "failed",
            "error": "It broke.",
        }
        await db.execute(insert(Job).values(**row, finished_at=func.now()))
        await looking.look(db, {"job_failed"})


async def a_conflict(database: Database) -> int:
    """Two employees have the ID number of a code that holds a punch."""
    async with database.transaction() as db:
        await mirror_person(db, "4711", state="unbound")
        for name in ("Nora Lind", "Nora Lund"):
            await employ(db, name, "4711")
        await bindings.match_all(db)
        await stay(db, "4711", "not_bound", datetime.now(UTC))
    # The day of the punch is noted as the transaction ends.
    async with database.transaction() as db:
        await looking.look(db, {"conflict"})
        return (await db.scalars(select(Problem.id))).one()


async def all_of(database: Database) -> Sequence[Problem]:
    async with database.transaction() as db:
        return (await db.scalars(select(Problem).order_by(Problem.id))).all()


@pytest.fixture(autouse=True)
async def a_worker(database: Database) -> None:
    """Without one, that is a problem, too."""
    later = datetime.now(UTC) + timedelta(hours=1)
    async with database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w", host="h", pid=1, seen_at=later))


def boxed(page: str) -> int:
    return page.count("data-bulk-item")


def dialog_of(page: str) -> str:
    """The text of the question on a page."""
    (form,) = re.findall(r'(?s)<form class="confirm".*?</form>', page)
    return re.sub(r"<[^>]*>", " ", form)


def in_menu(page: str) -> str:
    """The number beside *Problems*, "" for none."""
    (number,) = re.findall(r'id="menu-count-problems"[^>]*>([\d,]*)</span>', page)
    return str(number)


class TestList:
    async def test_many_of_a_kind_are_one_group_which_opens(self, database: Database, alice: Browser) -> None:
        await have(database, "job_failed", 60, held_punches=1)
        await have(database, "import_failed", 2, held_punches=900)
        page = (await alice.get("/problems")).text
        assert boxed(page) == 5 + 2
        assert page.index("Import failed") < page.index("Job failed")
        assert "2 problems · holds 1,800 punches" in squeezed(page)
        assert "<strong>62</strong>" in page
        opened = (await alice.get("/problems?kind=job_failed")).text
        assert boxed(opened) == 50
        assert "<strong>60</strong>" in opened
        assert 'class="list-group-head"' not in opened
        assert boxed((await alice.get("/problems?kind=job_failed&page=2")).text) == 10

    async def test_days_of_one_person_are_counted_as_days(self, database: Database, alice: Browser) -> None:
        days = {"subject_type": "person_day", "severity": "warning", "held_punches": 1, "held_people": 1}
        rows = [
            {**days, "kind": kind, "subject_id": f"{who}/2026-11-{day}", "title": "x", "since": datetime.now(UTC)}
            for kind in ("overlaps", "over_24h")
            for who, day in (("e7", 20), ("e7", 21), ("c10/07", 20))
        ]
        async with database.transaction() as db:
            await db.execute(insert(Problem), rows)
        page = squeezed((await alice.get("/problems")).text)
        assert page.count("3 problems · holds 3 punches of 3 workdays") == len(["overlaps", "over_24h"])

    async def test_a_terminal_is_called_by_its_name(self, database: Database, alice: Browser) -> None:
        facts = {"terminal": "A1", "terminal_name": "Gate 2"}
        (one,) = await have(database, "job_failed", 1, facts=facts)
        assert '<option value="A1">Gate 2</option>' in (await alice.get("/problems")).text
        # A token in an attribute may hold any two letters.
        shown = re.sub(r"<[^>]*>", " ", (await alice.get(f"/problems/{one}")).text)
        assert ("Gate 2" in shown, "A1" in shown) == (True, False)
        assert len((await alice.get("/problems?terminal=A1&export=jsonl")).text.splitlines()) == 1

    async def test_what_is_critical_comes_first(self, database: Database, alice: Browser) -> None:
        await have(database, "job_failed", 2, severity="critical")
        await have(database, "import_failed", 9, held_punches=900)
        page = (await alice.get("/problems")).text
        assert page.index("job_failed 0 broke") < page.index("import_failed 0 broke")

    async def test_that_no_worker_is_alive_stands_there_though_no_worker_looks(
        self, database: Database, alice: Browser, bob: Browser
    ) -> None:
        link = ">No worker is running</a>"
        assert link not in (await alice.get("/problems")).text
        async with database.shared_transaction() as db:
            await db.execute(update(WorkerHeartbeat).values(seen_at=func.now() - timedelta(minutes=2)))
        assert link in (await alice.get("/problems")).text
        assert link not in (await bob.get("/problems")).text

    async def test_filters_and_the_export_mean_the_same_rows(self, database: Database, alice: Browser) -> None:
        soon, now = datetime.now(UTC) + timedelta(hours=1), datetime.now(UTC)
        me = await user_id_of(database, "alice")
        await have(
            database,
            "job_failed",
            3,
            subject_type="terminal",
            facts={"department": "Canteen", "terminal": "T/1", "name": "Gate"},
        )
        await have(database, "import_failed", 2, assigned_to=me, snoozed_until=soon)
        await have(database, "import_failed", 4, closed_at=now, closed_by="itself", stands=False)
        found = {
            "": 3,
            "state=snoozed": 2,
            "state=closed": 4,
            "state=snoozed&mine=1": 2,
            "mine=1": 0,
            "department=Canteen": 3,
            "terminal=T%2F1": 3,
            "severity=critical": 0,
            "kind=job_failed&kind=import_failed": 3,
            "q=failed+1+broke": 1,
            "q=none": 0,
        }
        for query, number in found.items():
            page, lines = await alice.get(f"/problems?{query}"), await alice.get(f"/problems?{query}&export=jsonl")
            shown = len(re.findall(r'<a href="/problems/\d+[^"]*" data-drawer', page.text))
            assert (shown, lines.text.count("\n")) == (number, number), query
        line = json.loads((await alice.get("/problems?q=job_failed+1&export=jsonl")).text)
        assert (line["kind"], line["department"], line["terminal"]) == ("Job failed", "Canteen", "Gate")
        assert (await alice.get(f"/problems/{line['id']}")).status_code == 200
        page = (await alice.get("/problems")).text
        assert '<option value="T/1">Gate</option>' in page
        assert "2 snoozed" in page

    async def test_none_says_that_muster_looks_by_itself(self, alice: Browser) -> None:
        page = (await alice.get("/problems")).text
        assert "No problems" in page
        assert "Muster looks by itself" in page

    async def test_the_menu_counts_what_the_person_sees(
        self, database: Database, alice: Browser, bob: Browser, selects: list[str]
    ) -> None:
        await have(database, "job_failed", 1200)
        selects.clear()
        assert in_menu((await alice.get("/account")).text) == "1,200"
        assert not any("problem" in one for one in selects)
        page = (await bob.get("/account")).text
        assert (in_menu(page), 'id="menu-count-problems" hidden' in squeezed(page)) == ("", True)

    async def test_after_an_act_the_rows_bring_the_number_in_the_menu_with_them(
        self, database: Database, alice: Browser
    ) -> None:
        """As htmx asks for them, while the page around them stands:
        its number and its way to snoozed ones would be those of before."""
        ids = await have(database, "job_failed", 3)
        assert "hx-swap-oob" not in (await alice.get("/problems")).text
        await alice.submit(f"/problems/{ids[0]}/snooze", {"until": "hour"})
        rows = (await alice.fragment("/problems?kind=job_failed")).text
        assert in_menu(rows) == "2"
        assert "1 snoozed" in rows
        assert rows.count('hx-swap-oob="true"') == 2

    async def test_the_menu_leaves_out_what_is_snoozed_until_its_snooze_ends(
        self, database: Database, alice: Browser
    ) -> None:
        """As the list does by default."""
        ids = await have(database, "job_failed", 3)
        await have(database, "import_failed", 2)

        async def menu() -> str:
            return in_menu((await alice.get("/account")).text)

        assert await menu() == "5"
        await alice.submit(f"/problems/{ids[0]}/snooze", {"until": "hour"})
        await alice.submit(f"/problems/{ids[1]}/snooze", {"until": "change"})
        assert await menu() == "3"
        async with database.transaction() as db:
            await db.execute(
                update(ProblemCount)
                .where(ProblemCount.kind == "job_failed")
                .values(snoozed={"2026-01-01 00:00:00+00": 1, "9999-12-31 00:00:00+00": 1})
            )
        assert await menu() == "4", "an hour passed"
        await alice.submit(f"/problems/{ids[1]}/snooze", {"until": ""})
        assert await menu() == "4"

    async def test_it_reads_little_however_many_there_are(
        self, database: Database, alice: Browser, selects: list[str]
    ) -> None:
        await have(database, "job_failed", 400)
        selects.clear()
        await alice.get("/problems")
        assert len(selects) <= 5, selects


class TestRights:
    async def test_strangers_sign_in_and_people_without_the_right_are_refused(
        self, visitor: Browser, sign_in: Any
    ) -> None:
        assert (await visitor.get("/problems")).headers["location"].startswith("/sign-in")
        assert (await (await sign_in("nora")).get("/problems")).status_code == 403

    async def test_a_kind_is_for_those_who_may_open_its_page(self, database: Database, bob: Browser) -> None:
        (one,) = await have(database, "job_failed", 1)
        assert "job_failed 0" not in (await bob.get("/problems")).text
        assert (await bob.get(f"/problems/{one}")).status_code == 404
        for query in ("", "&kind=job_failed", "&kind=job_failed&kind=terminal_skew"):
            assert (await bob.get(f"/problems?export=jsonl{query}")).text == ""
        acted = await bob.submit(
            "/problems/bulk?", {"action": "assign_me", "all": "1", "confirmed": "1", "number": "1"}
        )
        assert acted.status_code == 409
        assert (await bob.submit(f"/problems/{one}/snooze", {"until": "hour"})).status_code == 404

    async def test_who_may_see_only_may_not_act(self, database: Database, vera: Browser, sign_in: Any) -> None:
        (one,) = await have(database, "job_failed", 1)
        async with database.transaction() as db:
            await roles.add(db, COMMAND_LINE, "Onlooker", ["host.problems", "admin.jobs"])
            bob = await accounts.find_by_email(db, "bob@example.org")
            await accounts.edit(db, COMMAND_LINE, bob.id, name=bob.name, kind=bob.type, roles=["Onlooker"])
        onlooker = await sign_in("bob")
        assert boxed((await onlooker.get("/problems")).text) == 0
        assert (await onlooker.submit(f"/problems/{one}/snooze", {"until": "hour"})).status_code == 403

    async def test_another_workspace_has_its_own(self, database: Database, alice: Browser, eve: Browser) -> None:
        (one,) = await have(database, "job_failed", 1)
        assert (await eve.get(f"/problems/{one}")).status_code == 404
        assert "No problems" in (await eve.get("/problems")).text

    async def test_htmx_gets_the_block(self, database: Database, alice: Browser) -> None:
        (one,) = await have(database, "job_failed", 1)
        for url in ("/problems", f"/problems/{one}", f"/problems/{one}/dismiss"):
            answer = await alice.fragment(url)
            assert answer.status_code == 200
            assert "<html" not in answer.text


async def test_the_places_of_many_problems_are_offered_without_reading_each(database: Database) -> None:
    """Each place once, of the kinds that the person sees; terminals by their names where a problem of one tells it."""
    facts = {"department": "Canteen", "terminal": "T/1"}
    # So many that PostgreSQL 15 too finds an index cheaper than all rows of another one.
    await have(database, "job_failed", 2000, facts=facts)
    await have(database, "import_failed", 2000, facts={"department": "Kitchen", "terminal": "T/2"})
    await have(database, "terminal_offline", 1, facts={"terminal": "T/1", "name": "Gate"}, subject_type="terminal")
    await have(database, "conflict", 1, facts={"department": "Closed"}, closed_at=datetime.now(UTC), closed_by="itself")
    async with database.transaction() as db:
        await db.execute(text("ANALYZE problems"))
        await db.execute(text("SET LOCAL enable_seqscan = off"))
        seen = ("job_failed", "terminal_offline", "conflict")
        assert await places.offered(db, seen) == ({"Canteen": "Canteen"}, {"T/1": "Gate"})
        every = await places.offered(db, (*seen, "import_failed"))
        assert every == ({"Canteen": "Canteen", "Kitchen": "Kitchen"}, {"T/1": "Gate", "T/2": "T/2"})
        plan = await db.execute(
            text(f"EXPLAIN (ANALYZE, COSTS off) {places._OFFERED.text}"), {"seen": [*seen, "import_failed"]}
        )
        read = [int(n) for n in re.findall(r"actual time=\S+ rows=(\d+)", "\n".join(plan.scalars()))]
        assert max(read) < 20, read


async def test_the_palette_finds_problems_and_the_way_to_all_of_them(
    database: Database, alice: Browser, bob: Browser, selects: list[str]
) -> None:
    assert "Open problems" not in (await alice.fragment("/palette?q=open+problems")).text
    (one, *_) = await have(database, "job_failed", 3)
    found = (await alice.fragment("/palette?q=failed+0+br")).text
    assert f'href="/problems/{one}"' in found
    assert 'href="/problems?view=all"' in (await alice.fragment("/palette?q=open+problems")).text
    selects.clear()
    assert "/problems/" not in (await bob.fragment("/palette?q=failed+0")).text
    assert [one for one in selects if "FROM problems" in one] == []


class TestOne:
    async def test_unlock_is_offered_once_the_lock_is_over(self, database: Database, alice: Browser) -> None:
        until = datetime.now(UTC) + timedelta(minutes=5)
        (one,) = await have(database, "connection_locked", 1, facts={"until": until.isoformat()})
        for address in ("/problems", f"/problems/{one}"):
            assert f"/problems/{one}/remedy" not in (await alice.get(address)).text, address
        over = {"until": (until - timedelta(minutes=6)).isoformat()}
        async with database.transaction() as db:
            await db.execute(update(Problem).values(facts=over))
        for address in ("/problems", f"/problems/{one}"):
            assert f"/problems/{one}/remedy" in (await alice.get(address)).text, address

    async def test_what_another_version_described_is_shown_without_its_page(
        self, database: Database, alice: Browser
    ) -> None:
        (one,) = await have(database, "job_failed", 1)
        async with database.transaction() as db:
            await db.execute(update(Problem).values(facts={}))
        for url in ("/problems", f"/problems/{one}"):
            page = await alice.get(url)
            assert (page.status_code, "job_failed 0 broke" in page.text) == (200, True)
            assert "/admin/jobs/" not in page.text

    async def test_it_says_what_is_known_and_what_was_done(self, database: Database, alice: Browser) -> None:
        await fail_a_job(database)
        (one,) = await all_of(database)
        await alice.submit(f"/problems/{one.id}/assign", {"me": "1"})
        await alice.submit(f"/problems/{one.id}/snooze", {"until": "change"})
        page = squeezed((await alice.get(f"/problems/{one.id}")).text)
        assert "It broke." in page
        assert "Assigned" in page
        assert page.count("until it changes") == len(["what was done", "the facts", "the history"])
        (now,) = await all_of(database)
        assert (now.assigned_to, now.snoozed_until) == (await user_id_of(database, "alice"), UNTIL_IT_CHANGES)
        said = await alice.submit(f"/problems/{one.id}/snooze", {"until": "monday"}, follow_redirects=True)
        assert "The problem is snoozed until Monday." in said.text
        await alice.submit(f"/problems/{one.id}/snooze", {"until": ""})
        await alice.submit(f"/problems/{one.id}/assign", {"user_id": ""})
        (now,) = await all_of(database)
        assert (now.assigned_to, now.snoozed_until) == (None, None)

    async def test_matching_again_that_changes_nothing_says_so_and_leads_to_its_page(
        self, database: Database, alice: Browser
    ) -> None:
        one = await a_conflict(database)
        home = f"/problems/{one}"
        said = await alice.submit(f"{home}/remedy", {"choice": "match_again"}, follow_redirects=True)
        assert "Still in conflict: 2 employees fit." in said.text
        assert '<a class="alert-link" href="/clock_employees?code=4711">Open its page</a>' in squeezed(said.text)
        assert ("Match again: done" in said.text, "<strong>Remedy</strong>" in said.text) == (False, False)
        (now,) = await all_of(database)
        assert now.closed_at is None

    async def test_what_is_refused_leaves_the_dialog_as_it_is(self, database: Database, alice: Browser) -> None:
        """Over the drawer: htmx posts the form, so that a refusal replaces nothing.
        Once it is done, the browser leaves."""
        one = await a_conflict(database)
        home = f"/problems/{one}"
        asked = (await alice.fragment(f"{home}/remedy")).text
        assert f'hx-post="{home}/remedy" hx-target="#dialog"' in squeezed(asked)
        assert 'hx-target="#dialog"' not in (await alice.get(f"{home}/remedy")).text
        dialog = {"HX-Request": "true", "HX-Target": "dialog", "HX-Current-URL": f"{BASE_URL}/problems?mine=1"}
        refused = await alice.submit(f"{home}/remedy", {"choice": "up"}, headers=dialog)
        assert (refused.status_code, refused.headers["X-Refusal"]) == (422, "422")
        done = await alice.submit(f"{home}/remedy", {"choice": "ignore"}, headers=dialog)
        assert (done.status_code, done.headers["HX-Redirect"]) == (204, "/problems?mine=1")
        assert "Ignore the code: done. The problem is closed." in (await alice.get("/problems")).text

    async def test_its_remedy_is_the_act_that_there_is(self, database: Database, alice: Browser) -> None:
        await fail_a_job(database)
        (one,) = await all_of(database)
        assert f'action="/problems/{one.id}/remedy"' in (await alice.get("/problems")).text
        said = await alice.submit(f"/problems/{one.id}/remedy", {}, follow_redirects=True)
        assert "Retry: done." in said.text
        async with database.transaction() as db:
            assert await db.scalar(select(Job.status)) == "queued"

    async def test_the_way_that_was_chosen_is_told_and_stands_in_the_history(
        self, database: Database, alice: Browser
    ) -> None:
        async with database.transaction() as db:
            await mirror_terminal(db, "access_terminal_used-0")
        (one,) = await have(database, "access_terminal_used", 1, subject_type="terminal")
        asked = squeezed((await alice.get(f"/problems/{one}/remedy")).text)
        assert ">Apply</button>" in asked, "the button names none of the ways"
        assert "Say what it is?" not in asked
        said = await alice.submit(f"/problems/{one}/remedy", {"choice": "attendance"}, follow_redirects=True)
        assert "It is a clock: done." in said.text
        assert squeezed(said.text).count("It is a clock") == len(["the toast", "the history"])

    async def test_a_decision_about_many_rows_says_how_many(self, database: Database, alice: Browser) -> None:
        detail = "40 of 90 known punches are missing there."
        (one,) = await have(database, "punches_gone", 1, detail=detail, facts={"run": 1})
        assert detail in (await alice.fragment(f"/problems/{one}/remedy")).text

    async def test_how_it_closed_fits_the_history_after_a_remedy(self, database: Database, alice: Browser) -> None:
        (one,) = await have(database, "job_failed", 1, closed_at=datetime.now(UTC), closed_by="itself", stands=False)
        for address in (f"/problems/{one}", "/problems?state=closed"):
            page = squeezed((await alice.get(address)).text)
            assert (">Fixed<" in page, "By itself" in page) == (True, False), address

    async def test_it_is_dismissed_with_a_note(self, database: Database, alice: Browser) -> None:
        await fail_a_job(database)
        (one,) = await all_of(database)
        asked = await alice.get(f"/problems/{one.id}/dismiss")
        assert f"“{one.title}” closes, with your note in its history." in html.unescape(asked.text)
        refused = await alice.submit(f"/problems/{one.id}/dismiss", {"confirmed": "1", "note": " "})
        assert (refused.status_code, "Say why" in refused.text) == (422, True)
        await alice.submit(f"/problems/{one.id}/dismiss", {"confirmed": "1", "note": "The disk was full."})
        (now,) = await all_of(database)
        assert (now.closed_by, now.stands) == ("person", True)
        assert "The disk was full." in (await alice.get(f"/problems/{one.id}")).text
        assert "Dismissed" in (await alice.get("/problems?state=closed")).text


class TestBulk:
    async def agreed(self, browser: Browser, query: str, **form: str) -> Any:
        """Asks, then agrees to the numbers that were asked about."""
        asked = await browser.submit(f"/problems/bulk{query}", form)
        fields = dict(re.findall(r'<input type="hidden" name="(number|last|held)" value="([^"]*)"', asked.text))
        return await browser.submit(
            f"/problems/bulk{query}", {**form, **fields, "confirmed": "1"}, follow_redirects=True
        )

    @pytest.mark.parametrize(
        ("action", "given", "said"),
        [
            ("assign_me", {}, "3 problems were assigned."),
            ("unassign", {}, "3 problems were unassigned."),
            ("snooze_hour", {}, "3 problems were snoozed."),
            ("snooze_change", {}, "3 problems were snoozed."),
            ("dismiss", {"note": "Known."}, "3 problems were dismissed."),
        ],
    )
    async def test_acts_reach_the_whole_filter_and_no_further(
        self, database: Database, alice: Browser, action: str, given: dict[str, str], said: str
    ) -> None:
        await have(database, "job_failed", 3, assigned_to=await user_id_of(database, "alice"))
        await have(database, "import_failed", 1)
        answer = await self.agreed(alice, "?kind=job_failed", action=action, all="1", **given)
        assert said in answer.text
        (other,) = [one for one in await all_of(database) if one.kind == "import_failed"]
        assert (other.assigned_to, other.snoozed_until, other.closed_at) == (None, None, None)

    async def test_they_are_given_to_a_person_who_sees_problems(self, database: Database, alice: Browser) -> None:
        (one,) = await have(database, "job_failed", 1)
        bob = await user_id_of(database, "bob")
        asked = await alice.submit("/problems/bulk", {"action": "assign", "id": str(one)})
        assert f'<option value="{bob}">Bob Brandt</option>' in squeezed(asked.text)
        assert "Nora" not in asked.text
        await self.agreed(alice, "", action="assign", id=str(one), user_id=str(bob))
        assert [one.assigned_to for one in await all_of(database)] == [bob]
        refused = await self.agreed(alice, "", action="assign", id=str(one), user_id="x")
        assert refused.status_code == 422

    async def test_the_remedy_of_many_runs_where_it_is_safe(self, database: Database, alice: Browser) -> None:
        await fail_a_job(database)
        answer = await self.agreed(alice, "?kind=job_failed", action="remedy", all="1")
        assert "1 problem was given the remedy." in answer.text
        async with database.transaction() as db:
            assert await db.scalar(select(Job.status)) == "queued"

    async def test_a_remedy_for_many_and_the_end_of_a_snooze_stand_only_below_rows_that_have_one(
        self, database: Database, alice: Browser
    ) -> None:
        await have(database, "not_found", 1, snoozed_until=datetime.now(UTC) + timedelta(hours=1))
        await have(database, "connection_locked", 1)
        remedy, wake = 'value="remedy"', 'value="wake"'
        shown = (await alice.get("/problems")).text
        assert ('value="dismiss"' in shown, remedy in shown, wake in shown) == (True, False, False)
        shown = (await alice.get("/problems?state=snoozed")).text
        assert (remedy in shown, wake in shown) == (True, True)

    async def test_a_remedy_is_for_one_kind_at_a_time_and_asks_its_question(
        self, database: Database, alice: Browser
    ) -> None:
        async with database.transaction() as db:
            await mirror_terminal(db, "no_direction-0")
        (ticked,) = await have(database, "no_direction", 1, subject_type="terminal")
        (other,) = await have(database, "job_failed", 1)
        mixed = {"action": "remedy", "id": [str(ticked), str(other)]}
        for form in ({"action": "remedy", "all": "1"}, mixed):
            refused = await alice.submit("/problems/bulk", form)
            assert (refused.status_code, "Filter by one kind first" in refused.text) == (409, True)
        asked = await alice.submit("/problems/bulk", {"action": "remedy", "id": str(ticked)})
        assert "How are the punches of this terminal to be read?" in asked.text
        assert '<option value="" selected>Choose…' in squeezed(asked.text)
        assert " checked" not in (await alice.get(f"/problems/{ticked}/remedy")).text
        one = "?kind=no_direction"
        asked = await alice.submit(f"/problems/bulk{one}", {"action": "remedy", "all": "1"})
        assert '<option value="in">' in squeezed(asked.text)
        assert (await self.agreed(alice, one, action="remedy", all="1", choice="up")).status_code == 422
        await self.agreed(alice, one, action="remedy", all="1", choice="in")
        async with database.transaction() as db:
            assert await db.scalar(select(Device.direction)) == "in"

    async def test_those_that_a_remedy_left_are_told_and_their_history_is_silent(
        self, database: Database, alice: Browser
    ) -> None:
        async with database.transaction() as db:
            await mirror_person(db, "code_disabled-0")
        helped, left = await have(database, "code_disabled", 2, subject_type="code", facts={"code": "1"})
        said = await self.agreed(alice, "?kind=code_disabled", action="remedy", all="1")
        assert "1 of 2 problems were given the remedy; 1 stays as it is." in said.text
        for one, times in ((helped, 1), (left, 0)):
            assert (await alice.get(f"/problems/{one}")).text.count("<strong>Remedy</strong>") == times

    @pytest.mark.parametrize(
        ("action", "asks"),
        [
            ("assign_me", "Assign 3 problems to me"),
            ("assign", "Assign 3 problems to a person"),
            ("unassign", "Unassign 3 problems"),
            ("snooze_monday", "Snooze 3 problems until Monday"),
            ("dismiss", "Dismiss 3 problems"),
            ("remedy", "Apply “Retry” to 3 problems"),
        ],
    )
    async def test_each_question_is_a_sentence(
        self, database: Database, alice: Browser, action: str, asks: str
    ) -> None:
        await have(database, "job_failed", 3)
        asked = squeezed((await alice.submit("/problems/bulk?kind=job_failed", {"action": action, "all": "1"})).text)
        assert f"{asks}?" in asked
        assert re.search(rf"<button[^>]*>{asks}</button>", asked)

    @pytest.mark.parametrize("action", ["assign_me", "assign", "unassign", "snooze_hour", "dismiss"])
    async def test_what_follows_is_right_for_one_problem_too(
        self, database: Database, alice: Browser, action: str
    ) -> None:
        (one,) = await have(database, "job_failed", 1)
        asked = await alice.submit("/problems/bulk", {"action": action, "id": str(one)})
        assert re.search(r"\b([Tt]hey|[Tt]hem|[Tt]heir)\b", dialog_of(asked.text)) is None

    async def test_the_question_to_dismiss_says_what_stays_open(self, database: Database, alice: Browser) -> None:
        """Otherwise a person wonders where the third of three chosen problems went."""
        await have(database, "job_failed", 2)
        await have(database, "not_found", 1)
        asked = squeezed((await alice.submit("/problems/bulk", {"action": "dismiss", "all": "1"})).text)
        assert "Dismiss 2 problems?" in asked
        assert "be dismissed stay open." in asked

    async def test_more_than_a_thousand_are_a_job(self, database: Database, alice: Browser) -> None:
        await have(database, "job_failed", 1001)
        answer = await self.agreed(alice, "?kind=job_failed", action="dismiss", all="1", note="Known.")
        assert "1,001 problems: a job does it" in answer.text


MONDAY = datetime(2026, 10, 19, 12, 0, tzinfo=ZAGREB)


@pytest.mark.parametrize(
    ("word", "now", "ends"),
    [
        ("hour", MONDAY, datetime(2026, 10, 19, 13, 0, tzinfo=ZAGREB)),
        ("tomorrow", MONDAY, datetime(2026, 10, 20, 0, 0, tzinfo=ZAGREB)),
        ("tomorrow", datetime(2026, 10, 19, 22, 30, tzinfo=UTC), datetime(2026, 10, 21, 0, 0, tzinfo=ZAGREB)),
        ("monday", MONDAY, datetime(2026, 10, 26, 0, 0, tzinfo=ZAGREB)),
        ("monday", datetime(2026, 10, 25, 23, 0, tzinfo=ZAGREB), datetime(2026, 10, 26, 0, 0, tzinfo=ZAGREB)),
        ("change", MONDAY, UNTIL_IT_CHANGES),
    ],
)
def test_a_snooze_ends_at_the_beginning_of_a_day_there(word: str, now: datetime, ends: datetime) -> None:
    assert snoozes.until(word, now, ZAGREB) == ends


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        (["opened", "closed"], "Closed by itself"),
        (["opened", "remedy", "changed", "closed"], "Fixed"),
        (["opened", "remedy", "closed", "opened_again", "closed"], "Closed by itself"),
    ],
)
def test_what_closes_after_a_remedy_is_fixed(lines: list[str], last: str) -> None:
    told = [what for what, _ in problem_page.told([ProblemChange(what=one) for one in lines])]
    assert told[-1] == last
