"""The long-lived parts that requests, jobs and commands share: settings, database, keys, the outbound client."""

import os
import socket
from dataclasses import dataclass, field

from app.config import ConfigError, Settings
from app.db.replica import Readable, Replica, ReplicaFirst
from app.db.session import Database
from app.outbound import AddressPolicy, OutboundClient, parse_allow_list
from app.secrets import KeyRing, load_or_create_keys

# Seconds that a statement may take: those of pages and APIs, those of exports and other reads of everything, and the
# short ones by which a worker keeps its books. A job's own may take as long as the job;
# those of a command as long as the person waits.
PAGES_S, LONG_READS_S, BOOKS_S = 10, 300, 10
# Seconds that a transaction may wait between two statements, with its locks. A job may work longer on what it read, and
# nothing waits for an export. What waits for another server sets its own (clock/connection/shared_session.py). A
# command has no such limit.
PAGE_WAITS_S, JOB_WAITS_S = 30, 240
# Connections that a job holds at once: an import judges two batches,
# and a sign-in to a time clock has a transaction of its own.
OF_A_JOB = 2
# A worker looks for jobs, and says that it lives.
OF_A_WORKER = 2
# Places of a worker, each with a connection, besides those for jobs of all kinds: one for brief jobs
# (workers/slots.py), one for the schedule, whose tick takes half of a minute where there are thousands of tenants.
FOR_BRIEF_WORK = 2
# Connections of a worker besides its pool and one for each job: four of the queue, and the one that listens.
OF_THE_QUEUE = 5
# Connections of a web process for the limits of API tokens, while the request that is counted holds one already.
FOR_LIMITS = 1


@dataclass(slots=True)
class Draining:
    """Begins when the process is asked to end; it still serves for some seconds."""

    has_begun: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    database: Database
    exports: Database
    limits: Database
    keys: KeyRing
    outbound: OutboundClient
    replica: Replica | None = None
    leaving: Draining = field(default_factory=Draining)

    @property
    def long_reads(self) -> Readable:
        """Where the rows of exports are read."""
        return self.exports if self.replica is None else ReplicaFirst(self.replica, self.exports)

    async def close(self) -> None:
        await self.outbound.aclose()
        await self.exports.close()
        await self.limits.close()
        if self.replica is not None:
            await self.replica.close()
        await self.database.close()


def make_parts(settings: Settings, database_url: str, *, pool_size: int = 10) -> Parts:
    """For a command. Nothing connects yet. `pool_size`: the connections of this process at most, besides those for
    exports and limits. `database_url` is the app role's; an embedded cluster runs already."""
    pooled = settings.goes_through_pooler(database_url)
    return _parts(settings, Database(database_url, pool_size=pool_size, pooled=pooled))


def web_parts(settings: Settings, database_url: str) -> Parts:
    """For a process that answers requests: no workspace may take more than half of its connections."""
    size = settings.web_pool
    database = Database(
        database_url,
        pool_size=size,
        application_name=process_name("web", size + settings.export_pool + FOR_LIMITS),
        limit_s=PAGES_S,
        idle_s=PAGE_WAITS_S,
        share=half(size),
        pooled=settings.goes_through_pooler(database_url),
    )
    return _parts(settings, database)


def worker_parts(settings: Settings, database_url: str, concurrency: int) -> Parts:
    """For a worker of so many jobs at a time, and brief work beside them.
    Raises ConfigError where it may have too few connections for them."""
    needed = OF_A_JOB * concurrency + OF_A_WORKER
    size = settings.worker_pool or needed + FOR_BRIEF_WORK
    if size < needed:
        raise ConfigError(f"MUSTER_WORKER_POOL is {size}; {concurrency} jobs at a time need at least {needed}")
    database = Database(
        database_url,
        pool_size=size,
        application_name=process_name("worker", size + concurrency + FOR_BRIEF_WORK + OF_THE_QUEUE),
        idle_s=JOB_WAITS_S,
        share=half(size),
        pooled=settings.goes_through_pooler(database_url),
    )
    return _parts(settings, database)


def process_name(kind: str, most: int) -> str:
    """What the database shows of a process: how many connections it may open. `muster doctor` adds them up."""
    return f"muster {kind} {most} {socket.gethostname()[:30]}:{os.getpid()}"


def half(number: int) -> int:
    """What one workspace may take of what all share."""
    return max(1, number // 2)


def _parts(settings: Settings, database: Database) -> Parts:
    size = settings.export_pool
    pooled = database.pooled
    return Parts(
        settings=settings,
        database=database,
        # They take long, and pages must not wait for a connection of theirs.
        exports=Database(
            database.url,
            pool_size=size,
            application_name="muster exports",
            limit_s=LONG_READS_S,
            idle_s=LONG_READS_S,
            share=half(size),
            pooled=pooled,
        ),
        limits=Database(
            database.url,
            pool_size=FOR_LIMITS,
            application_name="muster limits",
            limit_s=PAGES_S,
            idle_s=PAGE_WAITS_S,
            pooled=pooled,
        ),
        keys=_keys(settings),
        outbound=OutboundClient(AddressPolicy(parse_allow_list(settings.outbound_allow))),
        replica=_replica(settings),
    )


def _replica(settings: Settings) -> Replica | None:
    """It has connections of its own, and no pooler before it."""
    if settings.replica_database_url is None:
        return None
    pages, files = (
        Database(
            settings.replica_database_url,
            pool_size=size,
            application_name=name,
            limit_s=limit_s,
            idle_s=LONG_READS_S,
            share=half(size),
            wanted="prefer-standby",
        )
        for size, name, limit_s in (
            (half(settings.web_pool), "muster replica", PAGES_S),
            (settings.export_pool, "muster replica exports", LONG_READS_S),
        )
    )
    return Replica(pages, files)


def _keys(settings: Settings) -> KeyRing:
    if settings.secret_keys:
        return KeyRing.from_text(settings.secret_keys)
    return load_or_create_keys(settings.data_dir)
