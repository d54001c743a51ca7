"""What `muster doctor` looks at: database, roles, connections, migrations, keys, queue, workers, time clocks, mail, the
outside monitor, outbound policy. It changes nothing."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select, text

from app import doctor_standbys, sealed
from app.accounts.models import Job, Tenant, WorkerHeartbeat
from app.clock.models import Connection
from app.config import Settings, hosts
from app.counting import count
from app.db import pooler
from app.db.session import PLATFORM, Database, schema_of
from app.db.standing import Standing, out_of_step
from app.host.backups import monitor
from app.jobs import MAY_RUN, WORKER_SILENT_AFTER
from app.mail import outbox
from app.mail.models import OutgoingMail
from app.outbound.policy import parse_allow_list
from app.parts import Parts
from app.worker_pace import PACE

OLDEST_POSTGRES = 150_000
# Longer than another worker needs to take the job over.
SILENT_AFTER = PACE.stale_after * 2
OVERDUE_AFTER = timedelta(minutes=5)
WIDE_V4, WIDE_V6 = 8, 16

_WHO = text(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS label,"
    " has_table_privilege('audit_entries', 'DELETE') AS may_rewrite, has_schema_privilege('saq', 'CREATE') AS may_queue"
)


# Each process says in the name of its connections how many it may open: app.parts.process_name.
_PROCESSES = text(
    "SELECT DISTINCT application_name FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name ~ '^muster (web|worker) [0-9]+ '"
)
_ROOM = text(
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
    " - coalesce(current_setting('reserved_connections', true)::int, 0) AS takes, (SELECT count(*) FROM pg_stat_activity"
    " WHERE datid IS NOT NULL AND coalesce(application_name, '') !~ '^muster($|[ -])') AS others"
)
# What the tables of workspaces may be besides those of this program; the worst first.
_STANDINGS: dict[Standing, tuple[str, str]] = {
    "outgrown": ("failed", "This program is too old for the tables of {}: start the newer version."),
    "behind": ("failed", "Behind: {}. Run migrate:modules."),
    "ahead": (
        "warning",
        "A newer Muster added to the tables of {}. This one runs on until the newer one takes its place.",
    ),
}
# What a connection keeps of a workspace's tables once it has used them.
CATALOGUE_MIB = 1


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One line of the report. `level` is ok, warning or failed; only the last one makes the command fail."""

    name: str
    level: str
    sentence: str


async def examine(parts: Parts, owner_url: str | None) -> list[ReportLine]:
    """Every finding, in a fixed order. Raises what a database that cannot be reached raises."""
    findings = await _database(parts, owner_url)
    findings += [await _connections(parts), *await _pooler(parts.settings, parts.settings.database_url)]
    findings += [ReportLine(*line) for line in await doctor_standbys.look(parts)]
    migrations = await _migrations(parts.database)
    findings.append(migrations)
    if migrations.level != "failed":
        findings += [
            await _keys(parts),
            *await _jobs(parts.database),
            await _clocks(parts.database),
            await _mail(parts),
            await _monitor(parts),
        ]
    return [*findings, outbound(parts.settings)]


async def _database(parts: Parts, owner_url: str | None) -> list[ReportLine]:
    async with parts.database.shared_transaction() as db:
        who = (await db.execute(_WHO)).one()
    app_role = hosts.read(parts.database.url).user
    level = "ok" if who.version >= OLDEST_POSTGRES else "failed"
    found = [ReportLine("database", level, f"PostgreSQL {who.label}, as {app_role}")]
    if who.may_rewrite or (owner_url and hosts.read(owner_url).user == app_role):
        found.append(ReportLine("roles", "failed", "The app's role may change rows that it must only append."))
    else:
        found.append(ReportLine("roles", "ok", "The app's role can't alter tables or rewrite the audit."))
    if not who.may_queue:
        found.append(ReportLine("queue", "failed", "The app's role may not create in schema saq: run migrate:modules."))
    return found


async def _connections(parts: Parts) -> ReportLine:
    """What the processes that run now may open, against what the server takes. Those behind a pooler are not seen."""
    async with parts.database.shared_transaction() as db:
        names = list(await db.scalars(_PROCESSES))
        room = (await db.execute(_ROOM)).one()
        workspaces = (await db.scalar(select(func.count()).select_from(Tenant)) or 0) + 1
    most = sum(int(name.split()[2]) for name in names)
    sentence = (
        f"{count(len(names), 'process', 'processes')} may open {most}, other programs hold {room.others} now,"
        f" and the server takes {room.takes}. {count(workspaces, 'workspace', 'workspaces')} in each may take"
        f" {most * workspaces * CATALOGUE_MIB} MiB of the server's memory."
    )
    if parts.settings.pooler != "none":
        sentence += " Web processes go through the pooler, whose own limits hold."
    return ReportLine("connections", "warning" if most + room.others > room.takes else "ok", sentence)


async def _pooler(settings: Settings, url: str | None) -> list[ReportLine]:
    if settings.pooler == "none" or url is None:
        return []
    told = await asyncio.to_thread(pooler.version, url)
    named = "of a version that it does not tell" if told is None else f"{told[0]}.{told[1]}"
    if settings.pooler == "session" or (told is not None and told >= pooler.OLDEST):
        return [ReportLine("pooler", "ok", f"{settings.pooler}, PgBouncer {named}")]
    level = "warning" if told is None else "failed"
    return [ReportLine("pooler", level, f"transaction needs PgBouncer 1.21 or newer; this is one {named}.")]


async def _migrations(database: Database) -> ReportLine:
    async with database.shared_transaction() as db:
        workspaces = [PLATFORM, *await db.scalars(select(Tenant.key).order_by(Tenant.key))]
        found = await out_of_step(db, *workspaces)
    by_schema = {schema_of(workspace): workspace for workspace in workspaces}
    for standing, (level, sentence) in _STANDINGS.items():
        if places := [place for place, found_so in found.items() if found_so == standing]:
            named = ", ".join(f"{by_schema.get(schema, schema)}.{module}" for schema, module in places)
            return ReportLine("migrations", level, sentence.format(named))
    return ReportLine(
        "migrations", "ok", f"{count(len(workspaces), 'workspace is', 'workspaces are')} at the newest step."
    )


async def _keys(parts: Parts) -> ReportLine:
    found = await sealed.examine(parts.database, parts.keys)
    if found.broken:
        several = f" and {len(found.broken) - 1} more" if len(found.broken) > 1 else ""
        return ReportLine("keys", "failed", f"No key opens {found.broken[0]}{several}.")
    if found.rotated:
        return ReportLine(
            "keys", "warning", f"{count(found.rotated, 'secret waits', 'secrets wait')} for secrets:rotate."
        )
    keys, secrets = count(len(parts.keys.ids), "key", "keys"), count(found.unchanged, "secret", "secrets")
    return ReportLine("keys", "ok", f"{keys}; {secrets}, all sealed with the first.")


async def _jobs(database: Database) -> list[ReportLine]:
    overdue = func.count().filter(Job.status == "queued", Job.due_at < func.now() - OVERDUE_AFTER)
    silent = func.count().filter(Job.status == "running", Job.heartbeat_at < func.now() - SILENT_AFTER)
    failed = func.count().filter(Job.status == "failed", Job.finished_at > func.now() - timedelta(days=1))
    async with database.shared_transaction() as db:
        jobs = (
            await db.execute(
                select(overdue.label("overdue"), silent.label("silent"), failed.label("failed")).where(MAY_RUN)
            )
        ).one()
        alive = await db.scalar(
            select(func.count())
            .where(WorkerHeartbeat.seen_at > func.now() - WORKER_SILENT_AFTER)
            .select_from(WorkerHeartbeat)
        )
    sentence = f"{jobs.overdue} overdue, {jobs.silent} without a heartbeat, {jobs.failed} failed in a day"
    level = "failed" if jobs.overdue or jobs.silent else "warning" if jobs.failed else "ok"
    workers = ReportLine("workers", "ok", f"{alive} alive") if alive else _NO_WORKER
    return [ReportLine("jobs", level, sentence), workers]


async def _clocks(database: Database) -> ReportLine:
    """What the last call to each time clock brought; none is made. A pause is somebody's wish."""
    async with database.shared_transaction() as db:
        tenants = (await db.scalars(select(Tenant.key).where(Tenant.active).order_by(Tenant.key))).all()
    connected, wrong = 0, []
    for workspace in (PLATFORM, *tenants):
        async with database.transaction(workspace) as db:
            found = (await db.execute(select(Connection.status, Connection.last_error_code))).one_or_none()
        connected += found is not None
        if found is not None and found.status in ("unverified", "failing", "locked"):
            wrong.append(" ".join(filter(None, (workspace, found.status, found.last_error_code))))
    if wrong:
        return ReportLine("clocks", "warning", f"{'; '.join(wrong)}. The dashboard of the workspace says more.")
    return ReportLine("clocks", "ok", f"{count(connected, 'connection', 'connections')}, none of them failing.")


async def _mail(parts: Parts) -> ReportLine:
    """What became of the mails of a day; none is sent."""
    if not outbox.is_on(parts.settings):
        return ReportLine("mail", "ok", "Off: MUSTER_SMTP_URL is not set.")
    waits = func.count().filter(OutgoingMail.status == "waiting", OutgoingMail.attempts > 0)
    failed = func.count().filter(OutgoingMail.status == "failed")
    recent = OutgoingMail.created_at > func.now() - timedelta(days=1)
    async with parts.database.shared_transaction() as db:
        row = (await db.execute(select(waits.label("waits"), failed.label("failed")).where(recent))).one()
    sentence = (
        f"{row.waits} wait for another attempt, {row.failed} failed in a day; `muster mail:test` tries the server"
    )
    return ReportLine("mail", "warning" if row.waits or row.failed else "ok", sentence)


async def _monitor(parts: Parts) -> ReportLine:
    """Tells about the policy alone: the outside monitor is not called."""
    if parts.settings.ping_url is None:
        return ReportLine("monitor", "ok", "Off: MUSTER_PING_URL is not set.")
    if refused := await monitor.refusal(parts):
        return ReportLine("monitor", "warning", f"MUSTER_PING_URL is never called: {refused}")
    return ReportLine("monitor", "ok", "A worker calls MUSTER_PING_URL after each successful look for problems.")


_NO_WORKER = ReportLine(
    "workers", "failed", f"None was heard of for {WORKER_SILENT_AFTER.seconds} s; start `muster worker`."
)


def outbound(settings: Settings) -> ReportLine:
    """Raises AllowListError for a list that cannot be read."""
    allowed = parse_allow_list(settings.outbound_allow)
    if not allowed:
        return ReportLine("outbound", "ok", "Public addresses only.")
    wide = [str(one.network) for one in allowed if one.network.prefixlen < _narrowest(one.network.version)]
    if wide:
        return ReportLine(
            "outbound", "warning", f"MUSTER_OUTBOUND_ALLOW allows very large networks: {', '.join(wide)}."
        )
    return ReportLine("outbound", "ok", f"Public addresses, and {settings.outbound_allow}.")


def _narrowest(version: int) -> int:
    return WIDE_V4 if version == 4 else WIDE_V6  # noqa: PLR2004 - the two versions of IP
