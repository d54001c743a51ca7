"""What every command needs: settings, database, parts, shared options, printing, and how a refusal looks."""

import errno
import json
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from zoneinfo import ZoneInfo

import click

from app.config import ConfigError, Settings, read_settings
from app.errors import Refusal
from app.texts import is_readable

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.parts import Parts

# A copy of a word of app.db.session, which would load SQLAlchemy: `muster --help` and a refused option need no
# database.
PLATFORM = "main"
T = TypeVar("T")
AppliesOption = Callable[[Callable[..., Any]], Callable[..., Any]]

workspace_option: AppliesOption = click.option(
    "--workspace", metavar="KEY", default=PLATFORM, show_default=True, help="The workspace to use."
)
json_option: AppliesOption = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


# Between these years, an instant with any offset has a valid year.
_EDGES = (date.min.year, date.max.year)


class _Day(click.ParamType[date]):
    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        try:
            return value if isinstance(value, date) else date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a day; write it as 2026-11-21.", param, ctx)


class _Instant(click.ParamType[datetime]):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time; write it as 2026-11-21T08:00.", param, ctx)
        if time.year in _EDGES:
            self.fail(f"{value!r} is out of range.", param, ctx)
        return time


DAY = _Day()
INSTANT = _Instant()
# The largest bigint.
ID = click.IntRange(1, 2**63 - 1)


@dataclass(frozen=True, slots=True)
class Urls:
    """The database as the app's role uses it, and as the owner does; None when the owner's address is not known here.
    `past_pooler` is the address of the app without the pooler, if there is one."""

    app: str
    owner: str | None
    past_pooler: str | None = None

    @property
    def direct(self) -> str:
        return self.past_pooler or self.app

    @property
    def app_role(self) -> str:
        from app.config import hosts

        return hosts.read(self.app).user

    def need_owner(self) -> str:
        if self.owner is None:
            raise ConfigError("This needs the role that owns the tables: set MUSTER_OWNER_DATABASE_URL")
        return self.owner


def settings_of_environment() -> Settings:
    """Also sets up logging. Raises ConfigError."""
    from app import logs

    settings = read_settings(os.environ)
    logs.configure(settings.log_format)
    return settings


@contextmanager
def database(settings: Settings) -> Iterator[Urls]:
    """The database of the environment. The embedded one is started when needed, and released at the end."""
    if settings.database_url is not None:
        yield Urls(settings.database_url, settings.owner_database_url, settings.direct_database_url)
        return
    if settings.owner_database_url is not None:
        raise ConfigError("MUSTER_OWNER_DATABASE_URL is set, but MUSTER_DATABASE_URL is not; set both or neither")
    from app.db import embedded

    cluster = embedded.start(settings.data_dir, progress=lambda line: click.echo(line, err=True))
    try:
        yield Urls(cluster.app_url, cluster.owner_url)
    finally:
        cluster.stop()


def with_parts(act: "Callable[[Parts], Awaitable[T]]", *, workspace: str = PLATFORM) -> T:
    """Runs `act(parts)` in an event loop of its own. Raises NotFound for a workspace that does not exist."""
    settings = settings_of_environment()
    with database(settings) as urls:
        return run(acting(settings, urls, act, workspace))


async def acting(
    settings: Settings, urls: Urls, act: "Callable[[Parts], Awaitable[T]]", workspace: str = PLATFORM
) -> T:
    """`act` on parts of its own. Raises NotFound for a workspace that does not exist."""
    from app import wiring
    from app.accounts.tenants import refuse_unknown
    from app.parts import make_parts

    wiring.connect()
    parts = make_parts(settings, urls.direct)
    try:
        async with parts.database.shared_transaction() as db:
            await refuse_unknown(db, workspace)
        return await act(parts)
    finally:
        await parts.close()


def in_transaction(act: "Callable[[AsyncSession], Awaitable[T]]", workspace: str) -> T:
    """Runs `act(db)` in one transaction of the workspace."""

    async def in_one(parts: "Parts") -> T:
        async with parts.database.transaction(workspace) as db:
            return await act(db)

    return with_parts(in_one, workspace=workspace)


def run(work: Coroutine[Any, Any, T]) -> T:
    """An event loop for one command."""
    import asyncio

    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def instant(value: datetime | None) -> str | None:
    """As in the JSON APIs: UTC, to the second, with a Z."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if value else None


def to_utc(time: datetime, where: ZoneInfo) -> datetime:
    """The instant that a person means; without an offset it is in the workspace's zone."""
    from app.host import zone

    return zone.to_utc(time, where) if time.tzinfo is None else time.astimezone(UTC)


def answer(document: Any, *lines: str, as_json: bool) -> None:
    """Prints the result to stdout: one JSON document, or lines for a person."""
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))
        return
    for line in lines:
        click.echo(line)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows for a person; as wide as needed when the output is not a terminal."""
    from rich.console import Console
    from rich.table import Table

    drawn = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        drawn.add_row(*("–" if cell is None else str(cell) for cell in row))
    width = None if sys.stdout.isatty() else 400
    Console(width=width, highlight=False, markup=False).print(drawn, soft_wrap=True)


def refuse_backwards(first: date | None, last: date | None) -> None:
    """Ends the command when the last day of a range comes before the first."""
    if first is not None and last is not None and first > last:
        refuse(f"The range ends before it starts: it is from {first} to {last}.")


def read(file: Path) -> bytes:
    """The content of a file that the command names. Ends the command when it can't be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        refuse(f"{file} can't be read: {error.strerror}.")


def refuse_unkeepable(arguments: Sequence[str]) -> None:
    """Ends the command when an argument is not text that a database stores and a page shows: not UTF-8, or with control
    characters, or with such as turn the direction of a text. Python reads bytes that are not UTF-8 as halves of
    surrogate pairs."""
    for number, argument in enumerate(arguments, 1):
        if not is_readable(argument):
            refuse(f"Argument {number} is not UTF-8 text, or holds control characters: {argument!r}.")


def say_who_is_at_work(whom: str) -> None:
    """Prints what the command waits for, while another process changes tables."""
    click.echo(
        f"Another migrate:modules, tenant:create, tenant:import or tenant:remove is at work ({whom}). This one begins when that one ends.",
        err=True,
    )


def refuse(message: str) -> NoReturn:
    """Ends the command with exit code 1 and one line."""
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    raise SystemExit(1)


def reason_of(error: Exception) -> str | None:
    """The one line about an error that a person can do something about; None for a fault of ours."""
    from app.db.cluster.system_user import EmbeddedError
    from app.outbound.policy import AllowListError
    from app.secrets import SecretError

    if isinstance(error, Refusal):
        return error.message
    if isinstance(error, ConfigError | SecretError | EmbeddedError | AllowListError):
        return str(error)
    return _database_reason(error)


def _database_reason(error: Exception) -> str | None:
    import asyncpg
    from sqlalchemy.exc import DBAPIError

    sentences: dict[tuple[type[Exception], ...], str] = {
        (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError, asyncpg.UndefinedColumnError): (
            "The tables are missing or of another version; run `muster migrate:modules`."
        ),
        (asyncpg.InvalidAuthorizationSpecificationError,): "The database refuses the sign-in: {}",
        (asyncpg.InvalidCatalogNameError,): "The database of the given URL does not exist: {}",
        (asyncpg.LockNotAvailableError,): "Another process holds a lock that this needs. Retry in a moment.",
        (asyncpg.InsufficientPrivilegeError,): "The database's role may not do that: {}",
        (asyncpg.UndefinedObjectError, asyncpg.ClientConfigurationError): "The given URL does not fit the database: {}",
        (asyncpg.InsufficientResourcesError,): "The database is out of space or connections: {}",
        (asyncpg.ReadOnlySQLTransactionError,): "The database is read-only, as a standby is: {}",
        (asyncpg.AdminShutdownError, asyncpg.CrashShutdownError, asyncpg.CannotConnectNowError): _AWAY,
        (OSError, asyncpg.PostgresConnectionError): _AWAY,
    }
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename} can't be used: {error.strerror}."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The output can't be written: no space is left."
    cause = getattr(error.orig, "__cause__", None) or error.orig if isinstance(error, DBAPIError) else error
    found = next((sentence for kinds, sentence in sentences.items() if isinstance(cause, kinds)), None)
    return found and found.format(str(cause) or "it gave no answer in time")


_AWAY = "The database can't be reached: {}"
