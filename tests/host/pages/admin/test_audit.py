"""`/admin/audit`: the list, its filters and one entry with before and after."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from litestar import Litestar
from sqlalchemy import insert, select, update
from sqlalchemy.exc import DBAPIError

from app.accounts import user_types
from app.accounts.audit import COMMAND_LINE
from app.accounts.audit_words import (
    ACTS,
    SUBJECTS,
    act_label,
    days_in_words,
    differences,
    subject_label,
    subject_named,
    subject_page,
)
from app.accounts.models import AuditEntry, Role
from app.clock.bindings import actions as bindings
from app.clock.settings import ClockSettings
from app.dates import PageZone
from app.db.session import Database
from app.host.applications import applications
from app.host.people import people
from app.host.people.people import EmployeeDetails
from app.registry import modules
from tests.cluster import ROOT
from tests.conftest import Browser
from tests.host.staff import ALICE, hire
from tests.markup import squeezed

ZURICH = PageZone(ZoneInfo("Europe/Zurich"), date(2026, 11, 24))


async def entry(database: Database, act: str, *, workspace: str = "main", **values: object) -> int:
    row = {
        "workspace": workspace,
        "actor_id": 1,
        "actor_name": "Alice Ahn",
        "act": act,
        "subject_type": "user",
        "subject_id": "12",
        **values,
    }
    async with database.shared_transaction() as db:
        return (await db.scalars(insert(AuditEntry).values(row).returning(AuditEntry.id))).one()


async def test_the_page_asks_for_the_permission_and_shows_the_own_workspace_alone(
    alice: Browser, bob: Browser, eve: Browser, visitor: Browser, database: Database
) -> None:
    ours = await entry(database, "user.edit")
    theirs = await entry(database, "role.add", workspace="globex")
    text = (await alice.get("/admin/audit")).text
    assert "User edited" in text
    assert "An account that no longer exists here, number 12" in text
    assert "Role made" not in text
    assert (await bob.get("/admin/audit")).status_code == 403
    assert (await visitor.get("/admin/audit")).status_code == 303
    assert (await eve.get(f"/admin/audit/{ours}")).status_code == 404
    assert (await eve.get(f"/admin/audit/{theirs}")).status_code == 200


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("actor=ahn", {"user.edit", "user.create"}),
        ("actor=command", {"role.add"}),
        ("act=user", {"user.edit", "user.create"}),
        ("act=user.e", {"user.edit"}),
        ("act=%25", set()),
        ("act=EDITED", {"user.edit"}),
        ("act=role+made", {"role.add"}),
        ("subject=role", {"role.add"}),
        ("subject=user+12", {"user.edit"}),
        ("subject=user+1", set()),
        ("subject=12", {"user.edit", "role.add"}),
        ("subject=Role+12", {"role.add"}),
        ("subject=clock+employee+7", set()),
        ("by=command", {"role.add"}),
        ("by=person", {"user.edit", "user.create"}),
        ("by=token", set()),
        ("by=system", set()),
        ("from=2026-11-20&to=2026-11-20", {"user.create"}),
        ("from=2026-11-21", {"user.edit", "role.add"}),
        ("to=2026-11-19", set()),
        ("from=2026-13-01", set()),
        ("from=2026-11-21&to=2026-11-20", set()),
    ],
)
async def test_filters_find_by_who_what_on_whom_and_when(
    alice: Browser, database: Database, query: str, found: set[str]
) -> None:
    await entry(database, "user.create", subject_id="13", at=datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC))
    await entry(database, "user.edit", at=datetime(2026, 11, 21, 0, 0, tzinfo=UTC))
    await entry(
        database,
        "role.add",
        subject_type="role",
        actor_id=None,
        actor_name="Command line",
        at=datetime(2026, 11, 21, 9, tzinfo=UTC),
    )
    text = (await alice.fragment(f"/admin/audit?{query}")).text
    assert {act for act in ("user.create", "user.edit", "role.add") if f">{act_label(act)}</td>" in text} == found


async def test_a_day_is_a_day_of_the_workspaces_zone(
    alice: Browser, database: Database, request: pytest.FixtureRequest
) -> None:
    """23:30 on the 19th in Vancouver is 07:30 on the 20th in UTC."""
    request.getfixturevalue("in_vancouver")  # after the application, which names a provider of its own
    await entry(database, "user.edit", at=datetime(2026, 11, 20, 7, 30, tzinfo=UTC))
    assert ">User edited</td>" in (await alice.fragment("/admin/audit?from=2026-11-19&to=2026-11-19")).text
    assert ">User edited</td>" not in (await alice.fragment("/admin/audit?from=2026-11-20&to=2026-11-20")).text
    assert "2026-11-19 23:30:00" in (await alice.get("/admin/audit")).text


async def test_an_entry_shows_before_and_after_side_by_side(alice: Browser, database: Database) -> None:
    number = await entry(
        database,
        "user.edit",
        before={"name": "Bob", "roles": ["Viewer"]},
        after={"name": "<b>Bob</b>", "roles": ["Operator", "Viewer"]},
        ip="203.0.113.7",
        request_id="abc123",
    )
    answer = await alice.fragment(f"/admin/audit/{number}")
    assert "<html" not in answer.text
    assert "<del>Viewer</del>" in answer.text
    assert "<ins>Operator, Viewer</ins>" in answer.text
    assert "&lt;b&gt;Bob&lt;/b&gt;" in answer.text
    assert "203.0.113.7" in answer.text
    assert "abc123" in answer.text


def recorded() -> tuple[set[str], set[str]]:
    """The names of acts as the source gives them to the audit, and the beginnings of those that it puts together."""
    whole, beginnings = set(), set()
    for path in ROOT.glob("app/**/*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in {"record", "record_many"}:
                for given in call.args[2:3]:
                    whole |= {
                        one.value for one in ast.walk(given) if isinstance(one, ast.Constant) and "." in str(one.value)
                    }
                    if isinstance(given, ast.JoinedStr):
                        beginnings.add(given.values[0].value)
    return whole - beginnings, beginnings


async def test_a_survey_is_called_by_its_last_title_as_far_as_the_audit_knows_one(
    alice: Browser, database: Database
) -> None:
    about = {"subject_type": "survey", "subject_id": "6d0e0647-fbab-42f3-8add-90f9fed7e743"}
    await entry(database, "survey.create", **about, after={"title": "Lunch"})
    await entry(database, "survey.edit", **about, before={"title": "Lunch"}, after={"title": "The canteen"})
    published = await entry(database, "survey.publish", **about, after={"status": "published"})
    await entry(database, "survey.edit", **about, workspace="globex", after={"title": "Not ours"})
    await entry(database, "survey.publish", subject_type="survey", subject_id="untitled")
    text = (await alice.get("/admin/audit")).text
    assert text.count("Survey “The canteen”") == 3
    assert "Not ours" not in text
    assert "Survey untitled" in text
    assert "Everything done to Survey “The canteen”" in squeezed((await alice.get(f"/admin/audit/{published}")).text)


async def test_only_what_is_still_there_is_led_to(alice: Browser, database: Database, selects: list[str]) -> None:
    async with database.transaction() as db:
        role_id = await db.scalar(select(Role.id).where(Role.workspace == "main", Role.name == "Administrator"))
        guests = await user_types.add(db, COMMAND_LINE, "Guest")
    uid = "6d0e0647-fbab-42f3-8add-90f9fed7e743"
    async with database.transaction() as db:
        ada = await hire(db)
        assert await people.remove(db, ALICE, [ada]) == [ada]
    there = {("role", role_id): "Administrator", ("user_type", guests): "Guest", ("employee", ada): "Ada Lovelace"}
    there |= {("user", 1): "Alice Ahn", ("tenant", "acme"): "Acme", ("days", "1..2"): None}
    kinds = ("application", "attendance", "employee", "job", "punch", "role", "sync_run", "user", "clock_employee")
    gone = [(kind, 987654321) for kind in kinds]
    gone += [("survey", uid), ("user_type", "gone"), ("punch", "12 punches"), ("role", "9" * 30), ("survey", "x")]
    numbers = {one: await entry(database, "x", subject_type=one[0], subject_id=str(one[1])) for one in [*there, *gone]}
    selects.clear()
    text = (await alice.get("/admin/audit")).text
    assert len(selects) == 3, "zone, number of rows, and the rows with all that is known of eleven kinds"
    for (kind, subject), number in numbers.items():
        label = subject_label(kind, str(subject), there.get((kind, subject)))
        link = f'<a href="{subject_page(kind, str(subject))}">{label}</a>'
        said = (await alice.get(f"/admin/audit/{number}")).text
        assert (link in text, link in said) == ((kind, subject) in there,) * 2, (kind, subject)
        assert ("no longer there" in said) is ((kind, subject) in gone)


def test_every_act_has_words_of_its_own() -> None:
    whole, beginnings = recorded()
    assert len(whole) > 50
    assert whole <= ACTS.keys()
    verbs = {
        "binding.": bindings.OPEN_TO,
        "app.": applications.MADE,
        "survey.": ("create", "duplicate", "save", "new_version", "publish", "archive", "delete"),
        "clock.device.": ("direction", "kind", "remarks"),
        "clock.connection.": ("pause", "resume", "unlock"),
    }
    assert verbs.keys() == beginnings
    assert {beginning + verb for beginning, found in verbs.items() for verb in found} <= ACTS.keys()
    assert len(set(ACTS.values())) == len(ACTS)
    assert act_label("later.version") == "later.version"


@pytest.mark.parametrize(
    ("kind", "subject", "label", "address"),
    [
        ("employee", "12", "Person 12", "/people/12"),
        ("user", "286", "An account that no longer exists here, number 286", "/admin/users/286"),
        ("clock_binding", "0 0%&7", "Code 0 0%&7", "/clock_employees?code=0%200%25%267"),
        ("survey", "../x", "Survey ../x", "/surveys/view/..%2Fx"),
        ("clock_settings", "1", "Clock settings", "/clock_settings"),
        ("days", "2026-11-01..2026-11-02", "Days 2026-11-01..2026-11-02", "/attendance/locks"),
        ("ledger", "main", "Ledger main", None),
        ("later_kind", "5", "Later kind 5", None),
    ],
)
def test_a_subject_is_named_and_leads_to_its_page(kind: str, subject: str, label: str, address: str | None) -> None:
    assert subject_label(kind, subject) == label
    assert subject_page(kind, subject) == address
    if kind in SUBJECTS:
        assert subject_named(f" {label.upper()} ")[0] == kind


async def test_an_act_on_several_is_named_and_found_by_their_number(alice: Browser, database: Database) -> None:
    assert subject_label("punch", "12 punches") == "12 punches"
    await entry(database, "clock.settle", subject_type="punch", subject_id="12 punches")
    assert '<td data-label="On"' in (text := (await alice.get("/admin/audit?subject=12+punches")).text)
    assert "Punch 12" not in text


def test_the_page_of_every_kind_of_subject_is_there(site: Litestar) -> None:
    beginnings = {re.sub(r"\{.*", "", route.path) for route in site.routes}
    assert {str(subject_page(kind, "1")).removesuffix("1").partition("?")[0] for kind in SUBJECTS} - {
        "None"
    } <= beginnings


def test_differences_name_every_field_of_either_side() -> None:
    before: dict[str, object] = {"active": True, "note": None, "tags": []}
    after = {"active": False, "note": "x", "more_of_it": {"a_b": [1, 2]}}
    assert differences("user", before, after, ZURICH) == [
        ("Active", "yes", "no"),
        ("Note", "nothing", "x"),
        ("Tags", "nothing", None),
        ("More of it", None, "a b: 1, 2"),
    ]
    assert differences("user", None, None, ZURICH) == []


@pytest.mark.parametrize(
    ("name", "kept", "words"),
    [
        ("clock_in", "2026-11-22T07:00:00Z", "Sun 22 Nov, 08:00"),
        ("clock_in", "2026-11-22T08:00:05+01:00", "Sun 22 Nov, 08:00:05"),
        ("workday", "2025-11-22", "Sat 22 Nov 2025"),
        ("starts_at", "2026-11-22T07:00:00+00:00", "Sun 22 Nov, 07:00 UTC"),
        ("breaks", [["2026-11-22T11:00:00Z", "2026-11-22T11:30:00Z"]], "Sun 22 Nov, 12:00–Sun 22 Nov, 12:30"),
        ("punched_at_local", "2026-11-22T08:00:05", "Sun 22 Nov, 08:00:05"),
        ("note", "Since 2026-11-22", "Since 2026-11-22"),
        ("id_number", "2026-11-22", "2026-11-22"),
        ("serial", "2026-13-40", "2026-13-40"),
        ("remarks", "2026-11", "2026-11"),
    ],
)
def test_instants_and_days_are_told_in_words_and_typed_texts_as_they_are(name: str, kept: object, words: str) -> None:
    [(_, before, after)] = differences("attendance", None, {name: kept}, ZURICH)
    assert (before, after) == (None, words)


@pytest.mark.parametrize(
    ("kind", "name", "kept", "field", "words"),
    [
        ("attendance", "status", "auto_closed", "Status", "Auto-closed"),
        ("attendance", "kind", "overtime", "Kind", "Overtime"),
        ("clock_binding", "state", "auto_matched", "State", "Auto-matched"),
        ("clock_binding", "method", "id_number", "Decided by", "ID number"),
        ("clock_settings", "repeat_tap_seconds", 12, "Repeat tap within", "12 seconds"),
        ("clock_settings", "default_direction", "in", "Default direction of a terminal", "Always in"),
        ("punch", "outcomes", {"only_one_punch": 2}, "Outcomes", "Only one punch: 2"),
        ("role", "permissions", ["host.people", "gone.since"], "Permissions", "Keep people, gone.since"),
        ("policy", "web_prompts", False, "Web prompts", "off"),
        ("policy", "optional_gap_hours", 5, "Pause between two optional surveys", "5 hours"),
        ("policy", "optional_gap_hours", 1, "Pause between two optional surveys", "1 hour"),
        ("policy", "optional_gap_hours", 0, "Pause between two optional surveys", "0 hours"),
        ("survey", "status", "draft", "Status", "Draft"),
        ("survey", "enforcement", "required", "Enforcement", "Required"),
        ("terminal", "direction", "undirected", "Direction", "Undirected"),
        ("later", "what_came_later", "x_y", "What came later", "x_y"),
    ],
)
def test_fields_and_values_are_told_in_the_words_of_the_pages(
    kind: str, name: str, kept: object, field: str, words: str
) -> None:
    assert differences(kind, None, {name: kept}, ZURICH) == [(field, None, words)]


def test_every_field_that_an_act_may_leave_has_a_name() -> None:
    """The fields that stand in the code, and those of the values that are told whole."""
    literal = {name for path in sorted((ROOT / "app").rglob("*.py")) for name in _told_in(ast.parse(path.read_text()))}
    whole = {one.name for kind in (EmployeeDetails, ClockSettings) for one in fields(kind)}
    assert len(literal) > 30
    named = {name.rpartition(".")[2] for module in modules() for name in module.audited()}
    assert sorted((literal | whole) - named) == []


def _told_in(tree: ast.AST) -> Iterator[str]:
    """The keys of each dictionary that a call takes as `before` or `after`, that AuditedChange takes,
    or that has such a name first."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="record"), keywords=named):
                sides = [one.value for one in named if one.arg in ("before", "after")]
            case ast.Call(func=ast.Name(id="AuditedChange") | ast.Attribute(attr="AuditedChange"), args=[_, *sides]):
                pass
            case ast.Assign(targets=[ast.Name(id="before" | "after" | "told")], value=value):
                sides = [value]
            case _:
                continue
        for side in sides:
            keys = side.keys if isinstance(side, ast.Dict) else ()
            yield from (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def test_locked_days_are_named_in_words() -> None:
    assert days_in_words("2026-11-16..2026-11-22", ZURICH) == "16 – 22 Nov"
    assert days_in_words("17", ZURICH) == "17"


async def test_the_export_holds_what_the_filter_shows(alice: Browser, database: Database) -> None:
    await entry(database, "user.edit", after={"name": "=cmd()"})
    await entry(database, "role.add")
    text = (await alice.get("/admin/audit?act=user&columns=code&export=csv")).text
    assert "User edited" in text
    assert "Role made" not in text


async def test_the_newest_comes_first_and_pages_hold_fifty(alice: Browser, database: Database) -> None:
    for number in range(51):
        await entry(database, f"act.{number:02}")
    first, second = (await alice.get("/admin/audit")).text, (await alice.get("/admin/audit?page=2")).text
    assert ">act.50</td>" in first
    assert ">act.00</td>" not in first
    assert ">act.00</td>" in second


async def test_a_page_takes_three_selects(alice: Browser, selects: list[str]) -> None:
    await alice.get("/admin/audit")
    assert len(selects) <= 3, selects


async def test_the_application_can_not_change_an_entry(database: Database) -> None:
    await entry(database, "user.edit")
    with pytest.raises(DBAPIError, match="permission denied"):
        async with database.shared_transaction() as db:
            await db.execute(update(AuditEntry).values(act="nothing"))
    async with database.shared_transaction() as db:
        assert (await db.scalars(select(AuditEntry.act))).all() == ["user.edit"]
