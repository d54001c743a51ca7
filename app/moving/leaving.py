"""`tenant:export`: streams everything of a tenant, as of one moment, into a file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

import asyncpg
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit, tenants
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import User
from app.db.connecting import NOTICED, connect
from app.db.session import PLATFORM, Database, into_workspace
from app.db.standing import out_of_step
from app.db.steps import newest
from app.errors import Conflict, Invalid
from app.host.models import AppRating
from app.mail.models import OutgoingMail
from app.moving import tables
from app.moving.box import BoxWriter, PartHead
from app.moving.tables import MovingTable
from app.sealed import SEALED, Sealed
from app.secrets import KeyRing, Secret
from app.surveys.models import LedgerPerson, Response

SHORTEST_PASSPHRASE = 12
# So many secrets are opened and sealed again at a time.
BATCH = 200
_LAST_ID = "SELECT pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass)"


@dataclass(frozen=True, slots=True)
class ExportedTenant:
    """Rows of all tables, users, and the sum of the file; what the platform keeps of these users: answers to its
    surveys, and ratings of its apps; and how many mails of the tenant wait to be sent here."""

    rows: int
    users: int
    sha256: str
    answers_behind: int
    ratings_behind: int
    mails_behind: int


@dataclass(frozen=True, slots=True)
class TenantExport:
    """What to export, and from where: as the owner of the tables, from their database."""

    key: str
    owner_url: str
    keys: KeyRing
    with_tokens: bool


async def export_tenant(database: Database, wanted: TenantExport, file: BinaryIO, passphrase: Secret) -> ExportedTenant:
    """Writes the tenant as it is at one moment; people may use it meanwhile. Raises NotFound for an unknown key,
    Invalid for a short passphrase, Conflict for tables that wait for a migration, SecretError for a secret that does
    not open."""
    if len(passphrase.reveal()) < SHORTEST_PASSPHRASE:
        raise Invalid.at("passphrase", f"Choose a passphrase of at least {SHORTEST_PASSPHRASE} characters.")
    if wanted.key == PLATFORM:
        raise Invalid.at("key", "The platform itself does not move. Name a tenant.")
    async with database.shared_transaction() as db:
        await tenants.find(db, wanted.key)
    async with database.transaction(wanted.key) as db:
        if await out_of_step(db, wanted.key):
            raise Conflict("The tables of this tenant are at another version. Run `muster migrate:modules` first.")
    writer = BoxWriter(file, passphrase, wanted.key, datetime.now(UTC), newest())
    async with _one_moment(wanted) as connection:
        counts = {one.name: await _write(connection, wanted, writer, one) for one in tables.TRAVELLING}
    done = writer.end()
    rows = sum(counts.values())
    async with database.transaction() as db:
        behind = await _left_behind(db, wanted.key)
        told = {"rows": rows, "sha256": done, "api_tokens": wanted.with_tokens}
        for workspace in (PLATFORM, wanted.key):
            await audit.record(db, COMMAND_LINE, "tenant.export", "tenant", wanted.key, after=told, workspace=workspace)
    return ExportedTenant(rows, counts["users"], done, *behind)


@asynccontextmanager
async def _one_moment(wanted: TenantExport) -> AsyncIterator[asyncpg.Connection]:
    connection = await connect(wanted.owner_url, server_settings={"application_name": "muster-export", **NOTICED})
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            await connection.execute(f"{into_workspace(wanted.key)}; {tables.FORMATS}")
            yield connection
    finally:
        await connection.close()


async def _write(connection: asyncpg.Connection, wanted: TenantExport, writer: BoxWriter, one: MovingTable) -> int:
    last = None
    if one.numbers is not None:
        last = await connection.fetchval(_LAST_ID, one.name, one.numbers)
    writer.part(PartHead(one.name, one.columns, last))
    rows = await _copy(connection, wanted, writer, one)
    for column in one.sealed:
        sealed = next(known for known in SEALED if known.name == f"{one.name}.{column}")
        await _reseal(connection, wanted, writer, sealed)
    writer.end_part(rows)
    return rows


async def _copy(connection: asyncpg.Connection, wanted: TenantExport, writer: BoxWriter, one: MovingTable) -> int:
    async def take(data: bytes) -> None:
        writer.rows(data)

    which = "false" if one.name == tables.TOKENS and not wanted.with_tokens else one.which
    columns = ", ".join(f'"{name}"' for name in one.columns)
    # Append-only and numbered rows are written in the order in which they came.
    by = one.numbers if one.is_shared else one.order
    order = f' ORDER BY "{by}"' if by else ""
    query = f'SELECT {columns} FROM "{one.name}" WHERE {which or "true"}{order}'
    values = [wanted.key] if which and "$1" in which else []
    told: str = await connection.copy_from_query(query, *values, output=take, encoding="utf-8")
    return int(told.removeprefix("COPY "))


async def _reseal(connection: asyncpg.Connection, wanted: TenantExport, writer: BoxWriter, sealed: Sealed) -> None:
    """Opens secrets with the keys of the installation, and seals them under the passphrase for the same place."""
    where = "AND workspace = $1" if "workspace" in sealed.table.c else "AND $1::text IS NOT NULL"
    query = (
        f'SELECT id, "{sealed.bound_to}" AS bound_to, "{sealed.column}" AS text FROM "{sealed.table.name}"'
        f' WHERE "{sealed.column}" IS NOT NULL {where} ORDER BY id'
    )
    cursor = await connection.cursor(query, wanted.key)
    while rows := await cursor.fetch(BATCH):
        writer.secrets(sealed.column, [(row["id"], _resealed(wanted, writer.ring, sealed, row)) for row in rows])


def _resealed(wanted: TenantExport, ring: KeyRing, sealed: Sealed, row: Any) -> str:
    place = sealed.place(wanted.key, row["bound_to"])
    return ring.seal(wanted.keys.open(row["text"], place), place)


async def _left_behind(db: AsyncSession, key: str) -> tuple[int, int, int]:
    """How many answers and app ratings of the tenant's users are on the platform, to which `db` belongs; and how many
    mails of the tenant are in the outbox."""
    people = select(LedgerPerson.number).join(User, User.id == LedgerPerson.user_id).where(User.workspace == key)
    answers = await db.scalar(select(func.count()).select_from(Response).where(Response.person.in_(people)))
    theirs = AppRating.user_id.in_(select(User.id).where(User.workspace == key)), AppRating.deleted_at.is_(None)
    ratings = await db.scalar(select(func.count()).select_from(AppRating).where(*theirs))
    waiting = OutgoingMail.workspace == key, OutgoingMail.status == "waiting"
    mails = await db.scalar(select(func.count()).select_from(OutgoingMail).where(*waiting))
    return answers or 0, ratings or 0, mails or 0
