"""Demo data: the host's side of the simulator's people with every kind of gap, accounts to sign in with,
the connection.

`ClockDemo` is the people and their kiosk codes; accounts and connection belong to `muster demo` alone. What was made is
known from the audit, so that removing it takes exactly that. Processes, ports and what is printed: app.commands.demo.
"""

import csv
import io
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from sqlalchemy import BigInteger, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import accounts, audit, tenants
from app.accounts.accounts import NewUser
from app.accounts.models import AuditEntry, Tenant, User
from app.clock.connection import saved as connection
from app.clock.connection.connection_form import ConnectionForm
from app.clock.sync import run_rows
from app.db.session import PLATFORM, Database, workspace_of
from app.host.models import Employee, KioskEnrolment
from app.host.people import people, people_import
from app.parts import Parts
from app.secrets import Secret
from app.simulator import PASSWORD, USERNAME
from app.simulator.cast import Person, invent_people
from app.simulator.names import DEPARTMENTS, POSITIONS
from app.surveys.demo import seed as surveys
from app.webhooks import endpoints
from app.webhooks.kinds import TYPES

SEEDER = audit.Actor(None, "ClockDemo")
ZONE = "Europe/Berlin"
PASSWORD_FILE = "demo_passwords"  # noqa: S105 - a name
# Among 25 people one of each; everybody else has the code as ID number, and so is matched by it.
GAPS = {3: "unknown", 7: "renamed", 11: "doubled", 15: "kiosk", 19: "inactive"}
CYCLE = 25
Gap = Literal["", "unknown", "renamed", "doubled", "kiosk", "inactive"]

_WORDS = [
    "amber",
    "birch",
    "cedar",
    "copper",
    "coral",
    "dune",
    "ember",
    "fern",
    "flint",
    "frost",
    "glade",
    "grove",
    "harbor",
    "hazel",
    "indigo",
    "ivory",
    "juniper",
    "lark",
    "linden",
    "maple",
    "meadow",
    "mist",
    "moss",
    "opal",
    "orchid",
    "otter",
    "pebble",
    "pine",
    "quartz",
    "raven",
    "reed",
    "river",
    "sage",
    "slate",
    "sparrow",
    "spruce",
    "summit",
    "thistle",
    "tulip",
    "violet",
    "walnut",
    "willow",
]


@dataclass(frozen=True, slots=True)
class DemoEmployee:
    """One line of the demo's staff. `gap` says what is to happen to the binding."""

    id_number: str
    name: str
    department: str
    position: str
    active: bool = True
    kiosk_code: str = ""
    gap: Gap = ""


@dataclass(frozen=True, slots=True)
class DemoSignIn:
    name: str
    email: str
    role: str
    type: str
    password: str = field(default="", repr=False)
    workspace: str = PLATFORM
    note: str = ""


TENANT, TENANT_NAME = "acme", "Acme Timepieces"
CAST = (
    DemoSignIn("Alice Ahn", "alice@example.org", "Administrator", "admin"),
    DemoSignIn("Bob Brandt", "bob@example.org", "Operator", "staff"),
    DemoSignIn("Vera Voss", "vera@example.org", "Viewer", "staff"),
    DemoSignIn("Emil Ende", "emil@example.org", "", "employee", note="an employee: account and surveys alone"),
    DemoSignIn(
        "Tina Tack", "tina@acme.example.org", "Survey author", "staff", workspace=TENANT, note=f"tenant {TENANT_NAME}"
    ),
)


def staff(employees: int, seed: int) -> list[DemoEmployee]:
    """The host's employees for the simulator's people of the same number and seed. Pure."""
    found: list[DemoEmployee] = []
    for index, person in enumerate(invent_people(seed, employees)):
        found += _in_host(index, person)
    return found


def _in_host(index: int, person: Person) -> list[DemoEmployee]:
    name = " ".join(part for part in (person.first_name, person.last_name) if part)
    department = DEPARTMENTS[person.department][1]
    position = POSITIONS[person.position][1] if person.position is not None else ""

    def employee(
        id_number: str, name: str = name, *, active: bool = True, kiosk: str = "", gap: Gap = ""
    ) -> DemoEmployee:
        return DemoEmployee(id_number, name, department, position, active, kiosk, gap)

    match GAPS.get(index % CYCLE):
        case "unknown":
            return []
        case "renamed":
            turned = " ".join(part for part in (person.last_name, person.first_name) if part)
            return [employee(f"HR-{4000 + index}", turned, gap="renamed")]
        case "doubled":
            return [employee(person.code, gap="doubled"), employee(person.code, f"{name} (temp)", gap="doubled")]
        case "kiosk":
            return [employee(f"HR-{4000 + index}", kiosk=person.code, gap="kiosk")]
        case "inactive":
            return [employee(person.code, active=False, gap="inactive")]
        case _:
            return [employee(person.code)]


async def seed(db: AsyncSession, wanted: Sequence[DemoEmployee]) -> list[DemoEmployee]:
    """Adds the people who are missing, and leaves the others unchanged. Returns those it added."""
    missing = await plan(db, wanted)
    if missing:
        await people_import.import_csv(db, SEEDER, _as_csv(missing))
    return missing


async def plan(db: AsyncSession, wanted: Sequence[DemoEmployee]) -> list[DemoEmployee]:
    """The people `seed` would add. Left out: people whose ID number and name, or kiosk code, the workspace already
    has."""
    rows = await db.execute(select(Employee.id_number, Employee.name).where(Employee.deleted_at.is_(None)))
    known = {people_import.person_key(id_number, name) for id_number, name in rows}
    taken = set(await db.scalars(select(KioskEnrolment.code)))
    return [
        one
        for one in wanted
        if people_import.person_key(one.id_number, one.name) not in known and one.kiosk_code not in taken
    ]


async def remove(db: AsyncSession) -> list[int]:
    """Soft-deletes the people `seed` added, unless they are already deleted. Returns their ids."""
    made = select(cast(AuditEntry.subject_id, BigInteger)).where(
        AuditEntry.workspace == workspace_of(db),
        AuditEntry.actor_id.is_(None),
        AuditEntry.actor_name == SEEDER.name,
        AuditEntry.act == "employee.import",
        AuditEntry.subject_type == "employee",
        # What was added had no before, which the column holds as JSON's null.
        func.coalesce(func.jsonb_typeof(AuditEntry.before), "null") == "null",
    )
    ids = (await db.scalars(made)).all()
    return await people.remove(db, SEEDER, ids) if ids else []


def _as_csv(wanted: Sequence[DemoEmployee]) -> bytes:
    columns = ("id_number", "name", "department", "position", "active", "kiosk_code")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([getattr(one, column) for column in columns] for one in wanted)
    return text.getvalue().encode()


async def prepare(
    parts: Parts, *, employees: int, seed_number: int, clock_url: str, crowd: int | None = None
) -> list[DemoSignIn]:
    """Everything that `muster demo` shows: accounts, surveys, staff, connection, and a first run.
    Again: what is missing.

    `crowd`: how many people answer the surveys of each workspace, besides those who sign in.
    """
    sign_ins = _with_passwords(parts.settings.data_dir)
    casts = {workspace: [one for one in sign_ins if one.workspace == workspace] for workspace in (PLATFORM, TENANT)}
    for workspace, actors in casts.items():
        async with parts.database.transaction(workspace) as db:
            await _make_accounts(db, actors)
    # Before the surveys: rounds open when the day begins in the zone of the connection.
    async with parts.database.transaction() as db:
        await seed(db, staff(employees, seed_number))
        await _connect(parts, db, clock_url)
    for workspace, actors in casts.items():
        async with parts.database.transaction(workspace) as db:
            await surveys.seed(db, parts.keys, datetime.now(UTC), cast=[one.email for one in actors], crowd=crowd)
    return sign_ins


async def tell(parts: Parts, url: str) -> None:
    """The receiver of the demo is told of everything. Leaves webhooks alone that somebody made."""
    async with parts.database.transaction() as db:
        found = await endpoints.all_of(db)
        if not found:
            await endpoints.add(db, parts.keys, audit.COMMAND_LINE, url, TYPES)
        elif found[0].url.startswith("http://127.0.0.1:"):
            await endpoints.edit(db, audit.COMMAND_LINE, found[0].id, url, found[0].types)


async def make_tenant(database: Database, owner_url: str, app_role: str) -> None:
    """The tenant of the demo, once; its tables need the role that owns them."""
    async with database.shared_transaction() as db:
        if await db.scalar(select(Tenant.key).where(Tenant.key == TENANT)):
            return
    await tenants.create_tenant(database, owner_url, app_role, key=TENANT, name=TENANT_NAME)


async def _make_accounts(db: AsyncSession, sign_ins: Sequence[DemoSignIn]) -> None:
    known = set(await db.scalars(select(User.email)))
    for one in sign_ins:
        if one.email not in known:
            new = NewUser(one.email, one.name, one.type, (one.role,) if one.role else (), one.password)
            await accounts.create(db, audit.COMMAND_LINE, new)


async def _connect(parts: Parts, db: AsyncSession, clock_url: str) -> None:
    """Leaves a connection alone that somebody changed to another server."""
    found = await connection.load(db)
    ours = found is not None and found.username == USERNAME and found.base_url.startswith("http://127.0.0.1:")
    if found is not None and (found.base_url == clock_url or not ours):
        return
    form = ConnectionForm(clock_url, USERNAME, "cloud", ZONE, Secret(PASSWORD))
    await connection.save(db, parts.keys, audit.COMMAND_LINE, form)
    await run_rows.queue_run(db, "command", {}, audit.COMMAND_LINE)


def _with_passwords(data_dir: Path) -> list[DemoSignIn]:
    """The cast with the passwords invented at the first start and kept beside the keys,
    since they are printed each time."""
    path = data_dir / PASSWORD_FILE
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    passwords = {one.email: known.get(one.email) or _invented() for one in CAST}
    if passwords != known:
        path.touch(mode=0o600)
        path.write_text(json.dumps(passwords), encoding="utf-8")
    return [replace(one, password=passwords[one.email]) for one in CAST]


def _invented() -> str:
    return f"{secrets.choice(_WORDS)}-{secrets.choice(_WORDS)}-{secrets.randbelow(9000) + 1000}"
