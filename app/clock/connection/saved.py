"""The one connection of a workspace: saving, testing, pausing and unlocking it.

What an operator gives is checked in connection_form.py. The shared session is in connection/shared_session.py, calls
are in remote/, what a zone does to punches in rezoning.py.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit, schedule_looks
from app.clock.connection import lease
from app.clock.connection.connection_form import ConnectionForm, checked, refuse_without_password
from app.clock.connection.shared_session import LOCK_AFTER, SharedSession, accounts_of, forget, password_place
from app.clock.mirror import cursors, rezoning
from app.clock.models import Connection, Punch
from app.clock.profiles import PROFILES, Profile, overridden
from app.clock.remote import Credentials, RemoteClock, TestStep
from app.clock.remote.session import utc_now
from app.dates import local_time
from app.db.session import workspace_of
from app.errors import Conflict, NotFound
from app.outbound import Log
from app.parts import Parts
from app.problems import looking
from app.secrets import KeyRing, SecretError

_SHOWN = ("base_url", "username", "company", "profile", "timezone", "overrides")
# The fields by which the server is called. A change of them ends the session,
# and the connection no longer counts as working.
_SIGNS_IN = ("base_url", "username", "company", "profile", "overrides")
# What a test says something of.
_TESTED = (*_SIGNS_IN, "timezone", "password")


# Findings about the server at the old address say nothing about the new one.
_NOTHING_SAID: Mapping[str, Any] = dict.fromkeys(
    ("last_success_at", "last_error_code", "last_error_message", "last_error_at", "not_before")
)


async def load(db: AsyncSession) -> Connection | None:
    """The workspace's connection; None when none was saved."""
    return await db.scalar(select(Connection))


async def save(
    db: AsyncSession, keys: KeyRing, actor: audit.Actor, form: ConnectionForm, *, test_comes_first: bool = False
) -> Connection:
    """Saves the connection, untested. Raises Invalid naming each wrong field. With `test_comes_first` the schedule
    starts no run of a new connection until it is known to work; a connection that was saved before keeps its state.

    A current run stops when the fields it works with have changed. After a change of zone the import gives punches
    their new times, and judges them again.
    """
    values = checked(form)
    old = await db.scalar(select(Connection).with_for_update())
    before = {name: getattr(old, name) for name in _SHOWN} if old else None
    refuse_without_password(before, values, form)
    if form.password is not None:
        values["password"] = keys.seal(form.password, password_place(workspace_of(db)))
    if old is None:
        await db.execute(insert(Connection).values(id=1, awaits_test=test_comes_first, **values))
    else:
        values["awaits_test"] = old.awaits_test and test_comes_first
        await _change(db, keys, old, values, form)
    schedule_looks.look_soon(db, workspace_of(db))
    await looking.look_soon(db)
    shown = {name: values[name] for name in _SHOWN} | {"password_changed": form.password is not None}
    await audit.record(db, actor, "clock.connection.save", "clock_connection", 1, before=before, after=shown)
    return (await db.execute(select(Connection).execution_options(populate_existing=True))).scalar_one()


async def test(parts: Parts, workspace: str, actor: audit.Actor, log: Log) -> AsyncIterator[TestStep]:
    """Tests the saved connection step by step, and stores the result. Raises NotFound, and Conflict when locked, or
    when another connection was saved meanwhile."""
    async with parts.database.transaction(workspace) as db:
        found = await required(db)
        if found.status == "locked":
            raise Conflict("The connection is locked. Save the right password, or try again when the lock has expired.")
    remote = open_remote(parts, workspace, found, log)
    failed: TestStep | None = None
    async for step in remote.test_steps():
        failed = failed or (None if step.ok else step)
        yield step
    async with parts.database.transaction(workspace) as db:
        await _refuse_if_changed(db, found)
        if failed is None:
            await mark_working(db, utc_now())
        else:
            await mark_failed(db, failed.code or "TC-NET", failed.sentence, utc_now())
        outcome = {"ok": failed is None, "code": failed.code if failed else None}
        await audit.record(db, actor, "clock.connection.test", "clock_connection", 1, after=outcome)
        await looking.look_soon(db)


async def _refuse_if_changed(db: AsyncSession, tested: Connection) -> None:
    """Otherwise a new address would count as tested. The row stays locked until the result is written."""
    saved = await db.scalar(select(Connection).with_for_update())
    if saved is None or any(getattr(saved, name) != getattr(tested, name) for name in _TESTED):
        raise Conflict("The connection was changed during the test. Test it again.")


def open_remote(
    parts: Parts,
    workspace: str,
    connection: Connection,
    log: Log,
    *,
    now: Callable[[], datetime] = utc_now,
) -> RemoteClock:
    """The client of the saved server. Raises SecretError when its password cannot be opened."""
    return RemoteClock(
        profile_of(connection),
        connection.base_url,
        ZoneInfo(connection.timezone),
        _credentials(parts.keys, workspace, connection),
        outbound=parts.outbound,
        session_store=session_of(parts, workspace, connection, now=now),
        log=log,
        now=now,
    )


def session_of(
    parts: Parts, workspace: str, connection: Connection, *, now: Callable[[], datetime] = utc_now
) -> SharedSession:
    """Where the session of the connection is kept. Raises SecretError as `open_remote`."""
    credentials = _credentials(parts.keys, workspace, connection)
    accounts = accounts_of(parts.keys, connection.base_url, credentials)
    return SharedSession(parts.database, workspace, parts.keys, accounts, now=now)


def _credentials(keys: KeyRing, workspace: str, connection: Connection) -> Credentials:
    password = keys.open(connection.password, password_place(workspace))
    return Credentials(connection.username, password, connection.company)


def profile_of(connection: Connection) -> Profile:
    """The profile with the overrides of the connection."""
    return overridden(PROFILES[connection.profile], connection.overrides)


async def pause(db: AsyncSession, actor: audit.Actor) -> None:
    """Switches syncing off; the current run continues."""
    found = await required(db)
    await _set_status(db, actor, "pause", found.status, "paused")


async def resume(db: AsyncSession, actor: audit.Actor) -> None:
    """Switches syncing on again."""
    found = await required(db)
    if found.status != "paused":
        raise Conflict("The connection is not paused.")
    failed_last = found.last_error_at is not None and (
        found.last_success_at is None or found.last_success_at < found.last_error_at
    )
    verified = "failing" if failed_last else "healthy"
    await _set_status(db, actor, "resume", found.status, verified if found.tested_at else "unverified")


async def unlock(db: AsyncSession, actor: audit.Actor, now: datetime) -> None:
    """Allows one more try with the saved password, once the lock has run out. Raises Conflict."""
    found = await required(db)
    if found.status != "locked":
        raise Conflict("The connection is not locked.")
    if found.locked_until is not None and now < found.locked_until:
        zone = ZoneInfo(found.timezone)
        when = local_time(found.locked_until.astimezone(zone), now.astimezone(zone).date())
        raise Conflict(f"The same password can be tried again from {when} on ({found.timezone}).")
    await db.execute(update(Connection).values(credential_failures=LOCK_AFTER - 1, locked_until=None))
    await _set_status(db, actor, "unlock", "locked", "failing")


async def mark_working(db: AsyncSession, now: datetime) -> None:
    """A test or a run did well. A paused connection stays paused."""
    turns = or_(Connection.awaits_test, Connection.status.not_in(["healthy", "paused"]))
    if await db.scalar(select(Connection.id).where(turns)) is not None:
        await looking.look_soon(db)
    await db.execute(
        update(Connection).values(
            tested_at=now, awaits_test=False, last_success_at=now, credential_failures=0, not_before=None
        )
    )
    await db.execute(update(Connection).where(Connection.status != "paused").values(status="healthy"))
    schedule_looks.look_soon(db, workspace_of(db))


async def mark_failed(db: AsyncSession, code: str, message: str, now: datetime) -> None:
    """A test or a run failed. A locked or paused connection stays so."""
    await db.execute(update(Connection).values(last_error_code=code, last_error_message=message, last_error_at=now))
    await db.execute(update(Connection).where(Connection.status.not_in(("locked", "paused"))).values(status="failing"))


async def required(db: AsyncSession) -> Connection:
    """The connection. Raises NotFound when none was saved."""
    found = await load(db)
    if found is None:
        raise NotFound("There is no connection to a time-clock server yet; save one first.")
    return found


async def _change(
    db: AsyncSession, keys: KeyRing, old: Connection, values: dict[str, Any], form: ConnectionForm
) -> None:
    zone, profile = old.timezone, old.profile
    needs_sign_in = form.password is not None or any(getattr(old, name) != values[name] for name in _SIGNS_IN)
    if needs_sign_in or zone != values["timezone"]:
        values |= {"tested_at": None, "updated_at": func.now()}
        values["status"] = old.status if old.status in ("paused", "locked") else "unverified"
        await lease.break_off(db)
    if needs_sign_in:
        values["tokens"] = None
    same_address = old.base_url == values["base_url"]
    if not same_address:
        values |= _NOTHING_SAID
    if form.password is not None:
        locked = old.status == "locked"
        # Another server refused nothing yet.
        values |= {"credential_failures": LOCK_AFTER - 1 if locked and same_address else 0, "locked_until": None}
        values["status"] = "unverified" if locked else values["status"]
    if profile != values["profile"]:
        # The other kind of server numbers its rows differently: the same punch comes back under another id.
        values["id_generation"] = Connection.id_generation + 1
        await cursors.start_over(db)
    await db.execute(update(Connection).values(**values))
    if needs_sign_in:
        await _forget_session(db, keys)
    if zone != values["timezone"]:
        await _move(db, profile, zone, values["timezone"])


async def _forget_session(db: AsyncSession, keys: KeyRing) -> None:
    """Forgets the session of the account that is saved now. The earlier account has another hash."""
    found = (await db.execute(select(Connection).execution_options(populate_existing=True))).scalar_one()
    with suppress(SecretError):
        await forget(db, accounts_of(keys, found.base_url, _credentials(keys, workspace_of(db), found)))


async def _move(db: AsyncSession, profile: str, old: str, zone: str) -> None:
    if await db.scalar(select(Punch.id).limit(1)) is None:
        return
    await rezoning.begin(db, old, zone, "instants" if profile == "cloud" else "local_times")
    if profile == "cloud":
        await cursors.start_over(db)


async def _set_status(db: AsyncSession, actor: audit.Actor, verb: str, before: str, after: str) -> None:
    await db.execute(update(Connection).values(status=after, updated_at=func.now()))
    schedule_looks.look_soon(db, workspace_of(db))
    await looking.look_soon(db)
    await audit.record(
        db, actor, f"clock.connection.{verb}", "clock_connection", 1, before={"status": before}, after={"status": after}
    )
