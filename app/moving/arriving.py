"""`tenant:import`: a file of `tenant:export` becomes a deactivated tenant of this installation, in one transaction."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import asyncpg
import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts import tenants
from app.accounts.audit import COMMAND_LINE
from app.counting import count
from app.db.migrate import MigrationWatch, as_owner, make_workspace
from app.db.session import into_workspace, schema_of
from app.db.steps import newest
from app.errors import Conflict
from app.moving import box, tables
from app.moving.box import BoxHeader, BoxReader, PartHead
from app.moving.tables import MovingTable
from app.sealed import SEALED
from app.secrets import KeyRing, Secret

_SEALED_HERE = (
    "CREATE TEMP TABLE moving_sealed (place text, row_id bigint, text text, PRIMARY KEY (place, row_id)) ON COMMIT DROP"
)
# Of each kind: a tenant that is here already may have 50,000 e-mails.
NAMED = 10
# What may exist here already, and its name in messages.
_CLASHES = {
    "the key": "SELECT key FROM shared.tenants WHERE key = $1",
    "the schema": "SELECT nspname FROM pg_namespace WHERE nspname = $2 AND NOT EXISTS (SELECT FROM shared.tenants WHERE key = $1)",
    "the e-mail": "SELECT m.email FROM moving_users m JOIN shared.users USING (email) ORDER BY 1",
    "the passkey": (
        "SELECT m.name || ' of ' || u.email FROM moving_passkeys m JOIN shared.passkeys USING (credential_id)"
        " JOIN moving_users u ON u.id = m.user_id ORDER BY 1"
    ),
    "the API token": (
        "SELECT m.name || ' of ' || u.email FROM moving_api_tokens m JOIN shared.api_tokens USING (token_hash)"
        " JOIN moving_users u ON u.id = m.user_id ORDER BY 1"
    ),
}
_AUDIT = """
INSERT INTO shared.audit_entries (workspace, actor_name, act, subject_type, subject_id, after)
SELECT one, $2, 'tenant.import', 'tenant', $1, CAST($3 AS jsonb) FROM unnest(ARRAY['main', $1]) AS one
"""


@dataclass(frozen=True, slots=True)
class ImportedTenant:
    key: str
    rows: int
    users: int
    webhooks_off: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TenantImport:
    """The target: as the owner of the tables; `app_role` gets its rights on them. `watch` is told which other process
    is at work."""

    owner_url: str
    app_role: str
    keys: KeyRing
    watch: MigrationWatch = field(default_factory=MigrationWatch)


async def import_tenant(to: TenantImport, file: BinaryIO, passphrase: Secret) -> ImportedTenant:
    """Verifies the whole file, then writes all of it or nothing. Raises Conflict for a wrong passphrase, a changed
    file, another version, and for something in the file that exists here already."""
    header = box.read_header(file)
    _refuse_other_version(header)
    reader = BoxReader(file, passphrase)
    sums = reader.verify()
    try:
        async with as_owner(to.owner_url, to.watch) as connection:
            arrival = _Arrival(connection, to, reader)
            counts = await arrival.load()
            await tenants.in_session(connection, lambda db: tenants.prepare(db, header.tenant))
            told = {"rows": sum(counts.values()), "sha256": sums.sha256}
            raw = await _driver(connection)
            await raw.execute(_AUDIT, header.tenant, COMMAND_LINE.name, msgspec.json.encode(told).decode())
    except asyncpg.UniqueViolationError:
        raise Conflict(
            "Something of this tenant was taken here while it arrived. Nothing was written; retry."
        ) from None
    return ImportedTenant(header.tenant, sum(counts.values()), counts["users"], arrival.webhooks_off, sums.sha256)


def _refuse_other_version(header: BoxHeader) -> None:
    here = newest()
    other = sorted(module for module in {*here, *header.heads} if here.get(module) != header.heads.get(module))
    if other:
        raise Conflict(
            f"The tables in this file are of another version of Muster than this installation ({', '.join(other)})."
            " Bring both to the same version, run `muster migrate:modules` in both, then export again."
        )


async def _driver(connection: AsyncConnection) -> asyncpg.Connection:
    raw: Any = await connection.get_raw_connection()
    driver: asyncpg.Connection = raw.driver_connection
    return driver


class _Arrival:
    """One file while it is written into the database, in one transaction. `webhooks_off`: how many webhooks it switched
    off."""

    def __init__(self, connection: AsyncConnection, to: TenantImport, reader: BoxReader) -> None:
        self._connection, self._to, self._reader = connection, to, reader
        self._key, self._schema = reader.header.tenant, schema_of(reader.header.tenant)
        self._frames: Iterator[tuple[bytes, bytes]] = reader.frames()
        self._frame: tuple[bytes, bytes] | None = None
        self.webhooks_off = 0

    async def load(self) -> dict[str, int]:
        """Writes all parts. Returns how many rows came, by table."""
        self._db = await _driver(self._connection)
        await self._db.execute(f"{tables.FORMATS}; {_SEALED_HERE}")
        self._advance()
        counts = {one.name: await self._receive(one) for one in tables.FIRST}
        await self._refuse_clashes()
        await tenants.in_session(self._connection, lambda db: tenants.set_aside(db, self._key))
        await self._connection.run_sync(make_workspace, self._key, self._to.app_role)
        await self._db.execute(into_workspace(self._key))
        for one in tables.FIRST:
            await self._insert(one)
        for one in tables.SHARED + tables.WORKSPACE:
            counts[one.name] = await self._receive(one)
            if one.is_staged:
                await self._insert(one)
                await self._db.execute(f"DROP TABLE moving_{one.name}")
        while self._frame is not None:
            self._advance()
        for statement in tables.SETTLE:
            await self._db.execute(statement)
        self.webhooks_off = int((await self._db.execute(tables.SWITCH_OFF_WEBHOOKS)).rpartition(" ")[2])
        return counts

    def _advance(self) -> None:
        self._frame = next(self._frames, None)

    async def _receive(self, one: MovingTable) -> int:
        """Writes the rows of a part into their table, or into the temporary one beside it."""
        head = self._head(one)
        into, schema = one.name, self._schema
        if one.is_staged:
            into, schema = f"moving_{one.name}", "pg_temp"
            await self._stage(one)
        elif not one.table.info.get("append_only"):
            await self._db.execute(f'DELETE FROM "{self._schema}"."{one.name}"')  # what a new workspace has
        told = await self._db.copy_to_table(into, source=self._rows(), columns=one.columns, schema_name=schema)
        if one in tables.FIRST:
            await self._number(one)
        while self._kind == box.SECRETS:
            await self._reseal(one)
        rows = self._end(told)
        if not one.is_shared and one.numbers and head.last_id is not None:
            await self._db.execute(
                "SELECT setval(pg_get_serial_sequence($1, $2), $3)", self._named(one), one.numbers, head.last_id
            )
        return rows

    def _head(self, one: MovingTable) -> PartHead:
        head = box.names(self._content(box.PART))
        if (head.table, head.columns) != (one.name, one.columns):
            raise Conflict(
                f"The file has another table where {one.name} is expected. Export it again with this version."
            )
        self._advance()
        return head

    @property
    def _kind(self) -> bytes:
        return self._frame[0] if self._frame else b""

    def _content(self, kind: bytes) -> bytes:
        if self._frame is None or self._frame[0] != kind:
            raise Conflict("The parts of this file are not in the order of this version. Export it again.")
        return self._frame[1]

    def _end(self, told: str) -> int:
        rows = box.rows_of(self._content(box.SUMS))
        if told != f"COPY {rows}":
            raise Conflict(
                f"The file promises {count(rows, 'row', 'rows')}, and the database took {told}. Nothing was written."
            )
        self._advance()
        return rows

    async def _rows(self) -> AsyncIterator[bytes]:
        while self._frame is not None and self._frame[0] == box.ROWS:
            yield self._frame[1]
            self._advance()

    async def _stage(self, one: MovingTable) -> None:
        schema = "shared" if one.is_shared else self._schema
        columns = ", ".join(f'"{name}"' for name in one.columns)
        await self._db.execute(
            f'CREATE TEMP TABLE moving_{one.name} ON COMMIT DROP AS SELECT {columns} FROM "{schema}"."{one.name}" LIMIT 0'
        )

    async def _number(self, one: MovingTable) -> None:
        """Gives the rows their ids of this installation."""
        await self._db.execute(f"ALTER TABLE moving_{one.name} ADD COLUMN new_id bigint")
        await self._db.execute(
            f"UPDATE moving_{one.name} SET new_id = nextval(pg_get_serial_sequence('shared.{one.name}', 'id'))"
        )
        for column in ("id", "(id::text)"):
            await self._db.execute(f"CREATE INDEX ON moving_{one.name} ({column})")
        await self._db.execute(f"ANALYZE moving_{one.name}")

    async def _reseal(self, one: MovingTable) -> None:
        """Seals secrets with the keys of this installation, for the place that they have here."""
        rows = box.sealed_rows(self._content(box.SECRETS))
        here = await self._bound_here(one, rows)
        sealed = {
            known.column: known for known in SEALED if known.table.name == one.name and known.column in one.sealed
        }
        renewed = []
        for row_id, column, told in rows:
            was, is_now = here[row_id]
            secret = self._reader.ring.open(told, sealed[column].place(self._key, was))
            renewed.append((column, row_id, self._to.keys.seal(secret, sealed[column].place(self._key, is_now))))
        await self._db.copy_records_to_table(
            "moving_sealed", records=[(f"{one.name}.{column}", *rest) for column, *rest in renewed]
        )
        self._advance()

    async def _bound_here(self, one: MovingTable, rows: list[box.SealedRow]) -> dict[int, tuple[int, int]]:
        """By the id of a row: what its secret was bound to there, and what it is bound to here."""
        bound_to = next(known.bound_to for known in SEALED if known.table.name == one.name)
        new = "new_id" if one in tables.FIRST else bound_to
        query = f'SELECT id, "{bound_to}" AS was, "{new}" AS is_now FROM moving_{one.name} WHERE id = ANY($1)'
        found = await self._db.fetch(query, [row[0] for row in rows])
        return {row["id"]: (row["was"], row["is_now"]) for row in found}

    async def _refuse_clashes(self) -> None:
        found = []
        for what, query in _CLASHES.items():
            values = [value for number, value in enumerate((self._key, self._schema), 1) if f"${number}" in query]
            taken = await self._db.fetch(query, *values)
            found += [f"{what} {row[0]}" for row in taken[:NAMED]]
            if len(taken) > NAMED:
                found.append(f"{what} in {count(len(taken) - NAMED, 'more case', 'more cases')}")
        if found:
            raise Conflict(
                f"This installation has already: {', '.join(found)}. Nothing was written."
                " If it is an earlier copy of this tenant, remove that with `muster tenant:remove`. An e-mail, passkey or"
                " token can be changed in one of the two installations; then export again."
            )

    async def _insert(self, one: MovingTable) -> None:
        """From the temporary table into its own."""
        into = {name: self._value(one, name) for name in (*one.columns, *one.sealed)}
        if one in tables.FIRST:
            into["id"] = "s.new_id"
        elif one.is_shared:
            into.pop("id", None)
        order = " ORDER BY s.id" if "id" in one.columns else ""
        kept = " AND ".join(
            f"s.{column} IN (SELECT id FROM moving_{other})"
            for column, other in one.refers.items()
            if one.gone == "drop"
        )
        schema = "shared" if one.is_shared else self._schema
        names = ", ".join(f'"{name}"' for name in into)
        await self._db.execute(
            f'INSERT INTO "{schema}"."{one.name}" ({names}) SELECT {", ".join(into.values())} FROM moving_{one.name} s'
            f" WHERE {kept or 'true'}{order}"
        )

    def _value(self, one: MovingTable, column: str) -> str:
        if column in one.instead:
            return one.instead[column]
        if column in one.refers:
            new = f'(SELECT r.new_id FROM moving_{one.refers[column]} r WHERE r.id = s."{column}")'
            return f'coalesce({new}, -abs(s."{column}"))' if one.gone == "keep" else new
        if column in one.sealed:
            return f"(SELECT x.text FROM moving_sealed x WHERE x.place = '{one.name}.{column}' AND x.row_id = s.id)"
        if one.is_shared and column == ("key" if one.name == "tenants" else "workspace"):
            return f"'{self._key}'"  # The key of a tenant needs no quoting.
        return f's."{column}"'

    def _named(self, one: MovingTable) -> str:
        return f'"{self._schema}"."{one.name}"'
