"""`tenant:remove`: removes a deactivated tenant for good. The rows of shared tables go slice by slice, then the schema
and the tenant itself in one transaction. When it is cut off, the tenant is still there, and a second run continues.
Nothing goes while another process, such as a backup, reads one of the tenant's tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import asyncpg
import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts import tenants
from app.accounts.audit import COMMAND_LINE
from app.db.connecting import connect
from app.db.direct import send
from app.db.migrate import MigrationWatch, as_owner
from app.db.session import PLATFORM, into_workspace, schema_of
from app.errors import Conflict, Invalid, NotFound

SLICE = 500
# Shared tables with a column `workspace`, in the order of removal: accounts go before the roles that they have. What
# refers to an account goes with it.
REMOVED = (
    "jobs",
    "outgoing_mails",
    "users",
    "roles",
    "user_types",
    "policies",
    "problem_counts",
    "workspace_looks",
)
# Shared tables that keep their rows, and why.
KEPT: Mapping[str, str] = {
    "audit_entries": "The audit is never shortened: it says what happened here.",
    "backup_watch": "It is about the backups of the installation.",
    "clock_sign_ins": "Its key names no tenant. It is removed when it was not used for a week.",
    "mail_streak": "It is about the mail server of the installation.",
    "request_budgets": "What an API token has used of its limit counts for minutes.",
    "worker_heartbeats": "They are of the installation.",
}
# A lock on one of a hundred tables that takes longer belongs to work that must end first.
_LIMITS = "SET LOCAL lock_timeout = '5s'"
_ACTIVE = "SELECT active FROM shared.tenants WHERE key = $1"
_WORKS = """
SELECT name FROM shared.jobs
WHERE workspace = $1 AND status = 'running' AND heartbeat_at > now() - interval '1 minute' LIMIT 1
"""
_AUDIT = """
INSERT INTO shared.audit_entries (workspace, actor_name, act, subject_type, subject_id, before)
VALUES ('main', $1, $2, 'tenant', $3, CAST($4 AS jsonb))
"""
_TABLES = """
SELECT string_agg(format('%I.%I', n.nspname, c.relname), ', ' ORDER BY c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
"""
# Of the platform's surveys. A mail without an account would wait for ever.
_DROP_MAILS = """
UPDATE main.survey_invitations SET dropped_at = now()
WHERE sent_at IS NULL AND dropped_at IS NULL AND user_id IN (SELECT id FROM shared.users WHERE workspace = $1)
"""
_HOLD_TALLIES = "SELECT id FROM main.survey_tally_mark FOR UPDATE"
# Without an account, a person can no longer answer a survey of the platform. If they had not answered it, they no
# longer count as asked. A person who answered still counts: their row of the ledger stays.
_NO_LONGER_ASKED = """
WITH gone AS (
    DELETE FROM main.survey_prompt_state p USING shared.users u
    WHERE u.id = p.user_id AND u.workspace = $1 AND NOT EXISTS (
        SELECT FROM main.survey_responses r JOIN main.survey_people n ON n.number = r.user_id
        WHERE n.user_id = p.user_id AND r.survey_id = p.survey_id AND r.version = p.version)
    RETURNING p.survey_id, p.version, p.first_shown_at
), fewer AS (
    SELECT survey_id, version, CAST(first_shown_at AT TIME ZONE 'UTC' AS date) AS day, count(*) AS people
    FROM gone WHERE first_shown_at < (SELECT shown_until FROM main.survey_tally_mark) GROUP BY 1, 2, 3
)
UPDATE main.survey_tallies t SET people = t.people - fewer.people FROM fewer
WHERE t.survey_id = fewer.survey_id AND t.version = fewer.version AND t.day = fewer.day AND t.outcome = 'asked'
    AND t.question_key = '00000000-0000-0000-0000-000000000000' AND t.choice = ''
"""
# What a person would miss.
_COUNT = """
SELECT (SELECT count(*) FROM shared.users WHERE workspace = $1) AS users,
    (SELECT count(*) FROM employees) AS people,
    (SELECT count(*) FROM attendance_records) AS records,
    (SELECT count(*) FROM clock_transactions) AS punches,
    (SELECT count(*) FROM survey_responses) AS answers,
    (SELECT number FROM survey_ledger_head) AS ledger_rows,
    (SELECT encode(row_hash, 'hex') FROM survey_ledger_head) AS ledger_head
"""


@dataclass(frozen=True, slots=True)
class RemovedTenant:
    """How much of it there is. `ledger_head` is the hash of row `ledger_rows`, the last one: an exported copy that is
    complete has the same."""

    users: int
    people: int
    records: int
    punches: int
    answers: int
    ledger_rows: int
    ledger_head: str


async def counted(owner_url: str, key: str) -> RemovedTenant:
    """What a removal would remove. Raises NotFound for an unknown key, Invalid for the platform, Conflict for a tenant
    that is active or has work under way."""
    if key == PLATFORM:
        raise Invalid.at("key", "The platform itself can't be removed. Name a tenant.")
    connection = await connect(owner_url, server_settings={"application_name": "muster-remove"})
    try:
        async with connection.transaction(readonly=True):
            await _refuse_in_use(connection, _ACTIVE, key)
            await send(connection, into_workspace(key))
            found: Any = await connection.fetchrow(_COUNT, key)
            return RemovedTenant(**found)
    finally:
        await connection.close()


async def remove_tenant(owner_url: str, key: str, there: RemovedTenant, watch: MigrationWatch) -> None:
    """Removes what `counted` found. It may be repeated after it was cut off. Raises the same errors: also when the
    tenant is activated meanwhile, which keeps the rest."""
    async with as_owner(owner_url, watch) as opened:
        connection = await _held(opened, key)
        await _lock_all(connection, key)
        await connection.execute(_DROP_MAILS, key)
        await connection.execute(_HOLD_TALLIES)
        await connection.execute(_NO_LONGER_ASKED, key)
        held = await _held_at_first(connection, key, there)
    for table in REMOVED:
        while await _remove_slice(owner_url, watch, key, table):
            pass
    async with as_owner(owner_url, watch) as opened:
        connection = await _held(opened, key)
        await send(connection, f'DROP SCHEMA IF EXISTS "{schema_of(key)}" CASCADE')
        for table in REMOVED:  # what was written since its turn
            await connection.execute(f"DELETE FROM shared.{table} WHERE workspace = $1", key)
        await connection.execute("DELETE FROM shared.tenants WHERE key = $1", key)
        await connection.execute(_AUDIT, COMMAND_LINE.name, "tenant.remove", key, held)


async def _remove_slice(owner_url: str, watch: MigrationWatch, key: str, table: str) -> bool:
    """True while there may be more."""
    some = f"SELECT ctid FROM shared.{table} WHERE workspace = $1 LIMIT {SLICE}"
    async with as_owner(owner_url, watch) as opened:
        connection = await _held(opened, key)
        told: str = await connection.execute(f"DELETE FROM shared.{table} WHERE ctid = ANY(ARRAY({some}))", key)
    return told == f"DELETE {SLICE}"


async def _held(opened: AsyncConnection, key: str) -> asyncpg.Connection:
    """The driver's connection. The tenant stays as it is until the transaction ends."""
    raw: Any = await opened.get_raw_connection()
    connection: asyncpg.Connection = raw.driver_connection
    await send(connection, _LIMITS)
    await _refuse_in_use(connection, f"{_ACTIVE} FOR UPDATE", key)
    return connection


async def _refuse_in_use(connection: asyncpg.Connection, query: str, key: str) -> None:
    active = await connection.fetchval(query, key)
    if active is None:
        raise NotFound(f"There is no workspace {key}.")
    if active:
        raise Conflict(f"The tenant {key} is active. Deactivate it on the page Tenants first.")
    if work := await connection.fetchval(_WORKS, key):
        raise Conflict(f"A job of the tenant {key} still runs ({work}). Retry when it has ended.")


async def _lock_all(connection: asyncpg.Connection, key: str) -> None:
    """Shows that the schema can be dropped, before anything goes."""
    if tables := await connection.fetchval(_TABLES, schema_of(key)):
        await send(connection, f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")


async def _held_at_first(connection: asyncpg.Connection, key: str, there: RemovedTenant) -> str:
    """What the audit says of it: what was there when the first run began."""
    if begun := await tenants.REMOVAL.row(connection, {"key": key}, ""):
        return str(begun["held"])
    held = msgspec.json.encode(asdict(there)).decode()
    await connection.execute(_AUDIT, COMMAND_LINE.name, "tenant.remove_begin", key, held)
    return held
