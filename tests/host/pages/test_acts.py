"""Bulk acts over a whole filter: above a thousand rows a job carries them out in slices, which one can watch, stop and
join; what a killed worker left is continued by another."""

import asyncio
import html
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import AuditEntry, Job, Role, Tenant, User
from app.db.session import Database
from app.host import jobs as host_jobs
from app.host.attendance import day_locks, records
from app.host.models import AttendanceRecord, Employee
from app.jobs import Claim
from app.long_acts import acts, over_lists
from app.long_acts.acts import INLINE_LIMIT
from app.long_acts.models import LongAct, LongActItem
from app.long_acts.over_lists import MeantRows, SliceOutcome
from app.long_acts.progress import Progress, read
from app.long_acts.words import HOW_TO_CONTINUE
from app.parts import Parts
from app.registry import modules
from app.web.long_acts import bulk
from tests.clock.clock_worker import start_worker, until
from tests.clock.mirrored import connect
from tests.cluster import DatabaseUrls
from tests.command_line import CommandLine
from tests.conftest import Browser, SignIn
from tests.host.staff import ALICE, at, hire, hours, work
from tests.one_of_each import one_of_each

MANY = INLINE_LIMIT + 201
_PEOPLE = text(
    "INSERT INTO employees (id_number, id_number_key, name, department)"
    " SELECT n, n, 'Person ' || n, 'Mill' FROM generate_series(CAST(:first AS int), CAST(:last AS int)) AS n"
)
_NUMBER = re.compile(r'name="number" value="(\d+)"')
_LAST = re.compile(r'name="last" value="([^"]*)"')
EVERYBODY = {"action": "deactivate", "all": "1"}
DEACTIVATED = select(func.count()).where(~Employee.active)


@pytest.fixture
async def many(database: Database) -> None:
    await employ_many(database, 1, MANY)


async def employ_many(database: Database, first: int, last: int) -> None:
    async with database.transaction() as db:
        await db.execute(_PEOPLE, {"first": first, "last": last})


async def agree(browser: Browser, url: str, form: Mapping[str, str]) -> httpx.Response:
    """Asks, and answers with what the question carried."""
    asked = await browser.submit(url, dict(form))
    assert bulk.HOW in asked.text, asked.text
    carried = {"number": _NUMBER.findall(asked.text)[0], "last": _LAST.findall(asked.text)[0]}
    return await browser.submit(url, {**form, **carried, "confirmed": "1"})


async def begin(browser: Browser, url: str = "/people/bulk", form: Mapping[str, str] = EVERYBODY) -> int:
    begun = await agree(browser, url, form)
    assert begun.status_code == 303
    return int(begun.headers["location"].removeprefix("/acts/"))


async def carry_on(parts: Parts, act_id: int, workspace: str = "main") -> None:
    await host_jobs.carry_on(parts, Claim(1, 1, workspace, "long_act", {"act_id": act_id}))


async def slices(parts: Parts, act_id: int, number: int) -> None:
    """The first few of them."""
    kinds = {one.kind: one for module in modules() for one in module.site().long_acts}
    for _ in range(number):
        async with parts.database.transaction() as db:
            act = await db.get_one(LongAct, act_id)
            assert await over_lists.resume(
                db, act_id, lambda db, act: kinds[act.kind].opened(parts, "main", db, act)
            ), act


async def interrupted_slice(parts: Parts, act_id: int, meanwhile: Callable[[], Awaitable[None]]) -> None:
    """The next one; `meanwhile` happens while it changes its rows."""
    kinds = {one.kind: one for module in modules() for one in module.site().long_acts}

    async def opened(db: AsyncSession, act: LongAct) -> MeantRows:
        rows = await kinds[act.kind].opened(parts, "main", db, act)

        async def carry_out(keys: Sequence[Any]) -> SliceOutcome:
            await meanwhile()
            return await rows.carry_out(keys)

        return replace(rows, carry_out=carry_out)

    async with parts.database.transaction() as db:
        assert await over_lists.resume(db, act_id, opened)


async def progress(database: Database, act_id: int) -> Progress:
    async with database.transaction() as db:
        return await read(db, act_id)


async def number(database: Database, asked: Any) -> int:
    async with database.transaction() as db:
        return await db.scalar(asked) or 0


@pytest.mark.usefixtures("many")
async def test_the_request_notes_the_filter_and_the_job_does_the_rest(
    database: Database, parts: Parts, alice: Browser
) -> None:
    act_id = await begin(alice)
    assert await number(database, DEACTIVATED) == 0
    assert await number(database, select(func.count()).select_from(LongActItem)) == 0
    under_way = await alice.get(f"/acts/{act_id}")
    assert f"0 of {MANY:,} people" in under_way.text
    assert f'hx-get="/acts/{act_id}"' in (await alice.get("/people?q=none")).text
    job = (await alice.get("/admin/jobs")).text
    assert f'<a href="/acts/{act_id}">Deactivating people: 0 of {MANY:,} people</a>' in job
    assert f'hx-get="/acts/{act_id}"' not in (await alice.get("/kiosk")).text
    await carry_on(parts, act_id)
    assert await number(database, DEACTIVATED) == MANY
    acts = select(func.count()).where(AuditEntry.act == "employee.deactivate", AuditEntry.actor_name == ALICE.name)
    assert await number(database, acts) == MANY
    assert f"{MANY:,} people were deactivated." in (await alice.get(f"/acts/{act_id}")).text
    assert f'hx-get="/acts/{act_id}"' not in (await alice.get("/people")).text


@pytest.mark.usefixtures("many")
async def test_what_is_under_way_is_told_where_people_look_for_it(
    database: Database, parts: Parts, alice: Browser, sign_in: SignIn, muster: CommandLine
) -> None:
    """The Sync Center, the Dashboard, the palette and a command; but not to who may not watch it."""
    async with database.transaction() as db:
        await connect(db)
    act_id = await begin(alice)
    await slices(parts, act_id, 1)
    far = f"Deactivating people: 500 of {MANY:,} people"
    assert f'hx-get="/acts/{act_id}"' in (await alice.get("/clock_sync")).text
    assert far in (await alice.get("/clock")).text
    for asked in ("", "under way", "deactivating"):
        assert f'href="/acts/{act_id}"' in (await alice.fragment("/palette", params={"q": asked})).text, asked
    assert f'href="/acts/{act_id}"' not in (await alice.fragment("/palette?q=approving")).text
    nora = await sign_in("nora")
    assert f"/acts/{act_id}" not in (await nora.fragment("/palette")).text
    assert far in (await muster("acts:list")).out
    told = (await muster("acts:list", "--json")).json
    assert [(one["id"], one["looked_at"], one["total"], one["by"]) for one in told["acts"]] == [
        (act_id, 500, MANY, ALICE.name)
    ]
    assert (await muster("acts:list", "--workspace", "globex")).out == "Nothing is under way.\n"
    assert (await muster("acts:stop", act_id, "--workspace", "globex")).refusal == "There is no such act."
    assert (await muster("acts:stop", act_id, "--json")).json == {"id": act_id, "stops": True}
    await carry_on(parts, act_id)
    assert "Command line stopped it." in (await muster("acts:list", "--all")).out
    assert (await muster("acts:stop", act_id)).refusal == "This act is over, or it is being stopped already."
    assert far not in (await alice.get("/clock")).text


@pytest.mark.usefixtures("many")
async def test_an_act_whose_job_failed_says_so_wherever_it_is_told_of_until_it_is_retried(
    database: Database, parts: Parts, alice: Browser, bob: Browser, muster: CommandLine
) -> None:
    async with database.transaction() as db:
        await connect(db)
    act_id = await begin(alice)
    assert "job failed" not in (await alice.get(f"/acts/{act_id}")).text
    async with database.shared_transaction() as db:
        failed = update(Job).where(Job.name == "long_act").values(status="failed").returning(Job.id)
        job_id = await db.scalar(failed)
        db.add(Job(workspace="globex", name="long_act", key=f"long_act:{act_id}", arguments={}))
    for place in ("/clock", "/palette", "/admin/jobs"):
        assert f"0 of {MANY:,} people, but its job failed" in (await alice.get(place)).text, place
    for place in (f"/acts/{act_id}", "/clock_sync"):
        assert HOW_TO_CONTINUE in (await alice.get(place)).text, place
    assert HOW_TO_CONTINUE in (await muster("acts:list")).out
    assert (await muster("acts:list", "--json")).json["acts"][0]["job_failed"] is True
    link = 'href="/admin/jobs?status=failed">Failed jobs'
    assert link in (await alice.get(f"/acts/{act_id}")).text
    watched = (await bob.get(f"/acts/{act_id}")).text
    assert (HOW_TO_CONTINUE in watched, link in watched) == (True, False)
    await alice.submit(f"/admin/jobs/{job_id}/retry")
    assert "job failed" not in (await alice.get(f"/acts/{act_id}")).text
    await carry_on(parts, act_id)
    assert (await progress(database, act_id)).done == MANY


@pytest.mark.usefixtures("many")
async def test_twenty_newer_acts_that_a_person_may_not_watch_hide_none_of_theirs(
    database: Database, bob: Browser
) -> None:
    act_id = await begin(bob)
    async with database.transaction() as db:
        db.add_all(
            LongAct(kind="take_back", emp_codes=[], actor_name="Ada", arguments={}, counts={}) for _ in range(20)
        )
    async with database.shared_transaction() as db:
        await db.execute(update(Role).where(Role.name == "Operator").values(permissions=["host.people"]))
    assert f'href="/acts/{act_id}"' in (await bob.fragment("/palette")).text


async def test_an_act_of_an_older_version_is_told_of_as_not_counted(database: Database, muster: CommandLine) -> None:
    async with database.transaction() as db:
        await db.execute(insert(LongAct).values(kind="take_back", emp_codes=[], actor_name="Ada"))
    assert "Taking back records: not counted" in (await muster("acts:list")).out
    assert (await muster("acts:list", "--json")).json["acts"][0]["total"] is None


@pytest.mark.parametrize("last", ["abc", "-1", "1e3", "9" * 19, "9" * 5000, "٣", "1\x00"])
async def test_a_last_row_that_is_no_key_is_refused_before_anything_is_noted(
    database: Database, alice: Browser, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    await employ_many(database, 1, 2)
    form = {**EVERYBODY, "confirmed": "1", "number": "2", "last": last}
    refused = await alice.submit("/people/bulk", form)
    assert refused.status_code == 422
    assert "Reload the list, then begin the act again." in html.unescape(refused.text)
    assert await number(database, select(func.count()).select_from(LongAct)) == 0
    tenants = await alice.submit("/admin/tenants", {**form, "action": "deactivate", "number": "9", "last": "a\x00"})
    assert tenants.status_code == 422


async def test_an_act_whose_last_row_can_not_be_read_ends(database: Database, parts: Parts, alice: Browser) -> None:
    """As one that an older version noted."""
    await employ_many(database, 1, MANY)
    act_id = await begin(alice)
    async with database.transaction() as db:
        await db.execute(update(LongAct).values(last_key="abc"))
    await carry_on(parts, act_id)
    over = await progress(database, act_id)
    assert over.finished_at is not None
    assert over.problem is not None
    assert over.done == 0


async def test_a_thousand_rows_are_done_at_once(database: Database, alice: Browser) -> None:
    await employ_many(database, 1, INLINE_LIMIT)
    asked = await alice.submit("/people/bulk", EVERYBODY)
    assert bulk.HOW not in asked.text
    done = await alice.submit("/people/bulk", {**EVERYBODY, "confirmed": "1", "number": str(INLINE_LIMIT)})
    assert done.headers["location"] == "/people"
    assert await number(database, DEACTIVATED) == INLINE_LIMIT


@pytest.mark.usefixtures("many")
async def test_only_rows_that_the_filter_had_at_the_question_are_meant(
    database: Database, parts: Parts, alice: Browser
) -> None:
    async with database.transaction() as db:
        await hire(db, "Ada Lovelace", "ada", department="Office")
    asked = await alice.submit("/people/bulk?department=Mill", EVERYBODY)
    carried = {"number": _NUMBER.findall(asked.text)[0], "last": _LAST.findall(asked.text)[0]}
    await employ_many(database, 5001, 5003)
    begun = await alice.submit("/people/bulk?department=Mill", {**EVERYBODY, **carried, "confirmed": "1"})
    # Three more than were agreed to: the question is asked again, and its answer means them too.
    assert f"{MANY + 3:,} people" in begun.text
    async with database.transaction() as db:
        await db.execute(update(Employee).where(Employee.id_number.in_(["1", "2", "3", "4"])).values(active=False))
    act_id = await begin(alice, "/people/bulk?department=Mill")
    await employ_many(database, 6001, 6002)
    await carry_on(parts, act_id)
    async with database.transaction() as db:
        left = set(await db.scalars(select(Employee.id_number).where(Employee.active)))
    assert left == {"ada", "6001", "6002"}


@pytest.mark.usefixtures("many")
async def test_the_same_act_joins_the_one_under_way_and_takes_in_who_came_since(
    database: Database, parts: Parts, alice: Browser, bob: Browser
) -> None:
    act_id = await begin(alice)
    await slices(parts, act_id, 1)
    await employ_many(database, 0, 0)
    await employ_many(database, 7001, 7600)
    assert await begin(alice) == act_id
    assert await begin(bob) != act_id, "the audit names who asked"
    assert await begin(alice, "/people/bulk?department=Mill") != act_id, "another filter is another act"
    assert await number(database, select(func.count()).where(Job.name == "long_act")) == 3
    joined = await progress(database, act_id)
    assert (joined.done, joined.total) == (500, MANY + 601)
    await carry_on(parts, act_id)
    assert await number(database, DEACTIVATED) == MANY + 601
    over = await progress(database, act_id)
    assert (over.done, over.left, over.finished_at is not None) == (MANY + 601, {}, True)


@pytest.mark.usefixtures("many")
async def test_a_person_stops_it_and_what_was_done_stays(database: Database, parts: Parts, alice: Browser) -> None:
    act_id = await begin(alice)
    await slices(parts, act_id, 1)
    assert "500 of" in (await alice.get(f"/acts/{act_id}")).text
    assert (await alice.submit(f"/acts/{act_id}/stop")).status_code == 303
    assert "It stops after the part" in (await alice.get(f"/acts/{act_id}")).text
    assert (await alice.submit(f"/acts/{act_id}/stop")).status_code == 409
    await carry_on(parts, act_id)
    assert await number(database, DEACTIVATED) == 500
    told = (await alice.get(f"/acts/{act_id}")).text
    assert f"500 people were deactivated. Alice Ahn stopped it. {MANY - 500} people were not looked at." in told
    assert await number(database, select(func.count()).where(AuditEntry.act == "long_act.stop")) == 1
    await employ_many(database, 7001, 7600)
    assert await begin(alice) != act_id, "a stopped act is not joined"


@pytest.mark.usefixtures("many")
async def test_stop_ends_an_act_whose_job_failed_for_good(database: Database, parts: Parts, alice: Browser) -> None:
    act_id = await begin(alice)
    async with database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.name == "long_act").values(status="failed"))
    await alice.submit(f"/acts/{act_id}/stop")
    waiting = select(Job.id).where(Job.key == f"long_act:{act_id}", Job.status == "queued")
    async with database.shared_transaction() as db:
        assert len((await db.scalars(waiting)).all()) == 1
    await carry_on(parts, act_id)
    assert (await progress(database, act_id)).finished_at is not None
    assert "Alice Ahn stopped it." in (await alice.get(f"/acts/{act_id}")).text


@pytest.mark.usefixtures("many")
async def test_stop_ends_an_act_whose_job_fails_for_good_meanwhile(
    database: Database, parts: Parts, alice: Browser
) -> None:
    """The job that ran did not see that a person stopped the act, and it can't be stopped again."""
    act_id = await begin(alice)
    async with database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.name == "long_act").values(status="running", attempt=3))
    await alice.submit(f"/acts/{act_id}/stop")
    async with database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.status == "running").values(status="failed"))
        waiting = await db.scalars(select(Job.arguments).where(Job.name == "long_act", Job.status == "queued"))
        assert list(waiting) == [{"act_id": act_id}]
    assert "job failed" not in (await alice.get(f"/acts/{act_id}")).text
    await carry_on(parts, act_id)
    assert (await progress(database, act_id)).stopped_by == "Alice Ahn"


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("what", ["joins", "stops"])
async def test_a_person_who_joins_or_stops_an_act_does_not_wait_for_its_slice(
    database: Database, parts: Parts, alice: Browser, what: str
) -> None:
    act_id = await begin(alice)

    async def meanwhile() -> None:
        async with asyncio.timeout(10):
            if what == "joins":
                await employ_many(database, 0, 0)
                assert await begin(alice) == act_id
            else:
                assert (await alice.submit(f"/acts/{act_id}/stop")).status_code == 303

    await interrupted_slice(parts, act_id, meanwhile)
    after = await progress(database, act_id)
    assert (after.done, after.total) == (500, MANY + 1 if what == "joins" else MANY)
    await carry_on(parts, act_id)
    over = await progress(database, act_id)
    assert (over.done, over.left) == (MANY + 1 if what == "joins" else 500, {})
    assert over.finished_at is not None


async def test_stop_ends_an_act_on_named_items_whose_job_failed_for_good(database: Database) -> None:
    async with database.transaction() as db:
        act = await acts.note(db, ALICE, "use", select(Employee.id))
        await acts.stop(db, ALICE, act.id)
        keys = list(await db.scalars(select(Job.key).where(Job.name == "clock_long_act")))
    assert keys == [f"clock_long_act:{act.id}"]


@pytest.mark.usefixtures("many")
async def test_it_ends_when_the_person_may_no_longer_do_it(database: Database, parts: Parts, bob: Browser) -> None:
    act_id = await begin(bob)
    await slices(parts, act_id, 1)
    async with database.shared_transaction() as db:
        await db.execute(update(Role).where(Role.name == "Operator").values(permissions=["host.attendance"]))
    await carry_on(parts, act_id)
    assert await number(database, DEACTIVATED) == 500
    assert (await progress(database, act_id)).problem == "Bob Brandt may no longer do this."


@pytest.mark.usefixtures("many")
async def test_who_may_not_act_and_other_workspaces_see_no_act(
    alice: Browser, vera: Browser, eve: Browser, visitor: Browser
) -> None:
    act_id = await begin(alice)
    for browser in (vera, eve):
        assert (await browser.get(f"/acts/{act_id}")).status_code == 404
        assert (await browser.submit(f"/acts/{act_id}/stop")).status_code == 404
    assert (await visitor.get(f"/acts/{act_id}")).headers["location"].startswith("/sign-in")
    assert "<html" not in (await alice.fragment(f"/acts/{act_id}")).text


async def test_records_on_locked_days_stay_and_the_page_says_which(
    database: Database, parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 1)
    async with database.transaction() as db:
        ada, day = await hire(db), at("08:00").date()
        await work(db, ada, "08:00", "12:00")
        await work(db, ada, "08:00 2026-11-19", "12:00 2026-11-19")
        await day_locks.lock(db, ALICE, day, day)
    act_id = await begin(alice, "/attendance/bulk", {"action": "approved", "all": "1"})
    await carry_on(parts, act_id)
    async with database.transaction() as db:
        statuses = list(await db.scalars(select(AttendanceRecord.status).order_by(AttendanceRecord.workday)))
    assert statuses == ["approved", "pending"]
    told = (await alice.get(f"/acts/{act_id}")).text
    assert "1 record was approved. 1 stays: 1 on a locked day." in told
    assert re.search(r'href="/attendance/\d+"[^>]*>Ada Lovelace<', told)


@pytest.mark.parametrize("again", [False, True])
async def test_a_tenant_made_meanwhile_stays_unless_the_act_is_begun_once_more(
    database: Database, parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """Its key may sort before the last one."""
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    form = {"action": "deactivate", "all": "1"}
    act_id = await begin(alice, "/admin/tenants", form)
    async with database.shared_transaction() as db:
        db.add(Tenant(key="aaa", name="Made meanwhile"))
    if again:
        assert await begin(alice, "/admin/tenants", form) == act_id
    await carry_on(parts, act_id)
    async with database.shared_transaction() as db:
        active = list(await db.scalars(select(Tenant.key).where(Tenant.active)))
    assert active == ([] if again else ["aaa"])


@pytest.mark.parametrize("action", ["approved", "delete"])
async def test_a_record_that_changed_after_the_act_began_is_left(
    database: Database, parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 1)
    async with database.transaction() as db:
        ada = await hire(db)
        for day in ("17", "18", "19"):
            await work(db, ada, f"08:00 2026-11-{day}", f"12:00 2026-11-{day}")
    act_id = await begin(alice, "/attendance/bulk", {"action": action, "all": "1"})
    async with database.transaction() as db:
        first = await db.scalar(select(func.min(AttendanceRecord.id))) or 0
        await records.edit(db, ALICE, first, hours("08:00 2026-11-17", "20:00 2026-11-17"))
    await carry_on(parts, act_id)
    untouched = (AttendanceRecord.status == "pending", AttendanceRecord.deleted_at.is_(None))
    async with database.transaction() as db:
        assert list(await db.scalars(select(AttendanceRecord.id).where(*untouched))) == [first]
    assert "1 stays: 1 changed meanwhile." in (await alice.get(f"/acts/{act_id}")).text


@pytest.mark.slow
async def test_a_killed_worker_is_followed_by_one_that_continues_and_nothing_is_done_twice(
    database: Database, urls: DatabaseUrls, alice: Browser
) -> None:
    await employ_many(database, 1, 20_000)
    act_id = await begin(alice)

    async def has_done(least: int) -> bool:
        return (await progress(database, act_id)).done >= least

    async def is_over() -> bool:
        return (await progress(database, act_id)).finished_at is not None

    first = start_worker(urls)
    try:
        await until(lambda: has_done(1))
        first.kill()
        first.wait()
        reached = (await progress(database, act_id)).done
        assert 0 < reached < 20_000
        # The same act once more, while no job carries it out: it joins.
        await employ_many(database, 20_001, 20_100)
        assert await begin(alice) == act_id
        second = start_worker(urls)
        try:
            await until(is_over)
        finally:
            second.kill()
            second.wait()
    finally:
        first.kill()
        first.wait()
    assert await number(database, DEACTIVATED) == 20_100
    once = select(AuditEntry.subject_id).where(AuditEntry.act == "employee.deactivate")
    assert await number(database, select(func.count()).select_from(once.subquery())) == 20_100
    assert await number(database, select(func.count()).select_from(once.distinct().subquery())) == 20_100
    assert (await progress(database, act_id)).counts == {"done": 20_100}


async def test_every_bulk_act_of_every_list_can_be_a_jobs(
    parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun on its page over all rows, and carried out by a worker that finds the same rows."""
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    asked = {one.kind for module in modules() for one in module.site().long_acts}
    assert len(asked) == sum(len(module.site().long_acts) for module in modules())
    begun: dict[str, int] = {}
    async with one_of_each(parts):
        for kind in sorted(asked):
            url, action = _page_of(kind)
            # Some acts need a note.
            form = {"action": action, "all": "1", "note": "As agreed."}
            answer = await alice.submit(url, form)
            if answer.status_code != 200:
                continue
            act_id = await begin(alice, url, form)
            await carry_on(parts, act_id)
            over = await progress(parts.database, act_id)
            assert over.finished_at is not None
            assert over.problem is None, kind
            assert over.left.keys() <= {"changed", "locked", "hindered", "same_work", "beyond", *LEFT_BY_RULES}, kind
            shown = await alice.get(f"/acts/{act_id}")
            assert shown.status_code == 200, kind
            begun[kind] = over.done
    assert len(begun) > 25, begun
    assert sum(done > 0 for done in begun.values()) > 15, begun


async def test_what_an_act_left_names_no_account_of_another_tenant(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        act = LongAct(
            kind="users.deactivate", list_query="", actor_name="Alice Ahn", emp_codes=[], counts={"beyond": 2}
        )
        act.arguments = {"url": "/admin/users"}
        db.add(act)
        await db.flush()
        eve, bob = [await db.scalar(select(User.id).where(User.name == name)) for name in ("Eve Egger", "Bob Brandt")]
        db.add_all([LongActItem(act_id=act.id, item_id=one, became="beyond") for one in (eve, bob)])
        act_id = act.id
    told = (await alice.get(f"/acts/{act_id}")).text
    assert f'href="/admin/users/{bob}"' in told
    assert "Eve Egger" not in told
    assert f'href="/admin/users/{eve}"' not in told


LEFT_BY_RULES = {"refused", "decided", "edited", "overlaps", "date_locked"}


def _page_of(kind: str) -> tuple[str, str]:
    name, _, action = kind.partition(".")
    pages = {
        "bindings": "/clock_employees/bulk",
        "punches": "/clock_transactions/bulk",
        "devices": "/clock_devices/bulk",
        "surveys": "/surveys/list/bulk",
        "attendance": "/attendance/bulk",
        "tenants": "/admin/tenants",
        "users": "/admin/users/bulk",
        "tokens": "/admin/tokens/bulk",
        "jobs": "/admin/jobs/bulk",
    }
    deleted = "?state=deleted" if kind == "people.restore" else ""
    return pages.get(name, f"/{name}/bulk") + deleted, action
