"""`migrate:modules`: creates and upgrades the tables."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from app.commands import frame

if TYPE_CHECKING:
    from rich.progress import Progress

    from app.db.migrate import Applied, MigrationWatch

# A copy of what app.db.steps knows: loading it would load SQLAlchemy and Alembic for every `muster --help`. A test
# compares them.
MODULES = ("host", "clock", "surveys")
JOBS = 4
# Seconds between two lines of progress when there is no terminal.
LINE_S = 5.0


@click.command("migrate:modules")
@click.option("--module", "modules", type=click.Choice(MODULES), multiple=True, help="Default: all.")
@click.option("--workspace", metavar="KEY", help="Only this workspace.")
@click.option("--all-workspaces", is_flag=True, help="Every workspace; the default.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 32),
    default=JOBS,
    show_default=True,
    help="Workspaces at a time, each a connection.",
)
@frame.json_option
def migrate_modules(
    *, modules: tuple[str, ...], workspace: str | None, all_workspaces: bool, jobs: int, as_json: bool
) -> None:
    """Create or upgrade the tables, while Muster runs. Safe to run twice, and at once.
    A run that was killed is continued by the next."""
    if workspace and all_workspaces:
        raise click.UsageError("give --workspace or --all-workspaces, not both")
    from app.db.migrate import Unfinished

    settings, failed = frame.settings_of_environment(), ""
    with frame.database(settings) as urls, _progress() as watch:
        try:
            applied = frame.run(bring_up(urls, modules, [workspace] if workspace else [], jobs, watch))
        except Unfinished as unfinished:
            applied, failed = list(unfinished.applied), unfinished.message
    _answer(applied, as_json=as_json)
    if failed:
        frame.refuse(failed)


def _answer(applied: "Sequence[Applied]", *, as_json: bool) -> None:
    lines = [_line(one) for one in applied if one.changed or one.error]
    document = [asdict(one) | {"changed": one.changed} for one in applied]
    frame.answer(document, *lines or ["Nothing to do."], as_json=as_json)


def _line(one: "Applied") -> str:
    stopped = f", and stays there: {one.error}" if one.error else ""
    moved = f"{one.before or 'nothing'} → {one.after}" if one.changed else f"{one.after or 'nothing'}"
    return f"{one.schema}.{one.module}: {moved}{stopped}"


@contextmanager
def _progress() -> "Iterator[MigrationWatch]":
    """Progress on stderr: a bar on a terminal, otherwise a line from time to time."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from app.db.migrate import MigrationWatch

    columns = (TextColumn("schemas"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shows = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shows) as progress:
        told = _MigrationProgress(progress, lines=not shows)
        yield MigrationWatch(frame.say_who_is_at_work, told.begins, told.is_held_up, told.ends, told.index_waits)


class _MigrationProgress:
    """Shows the progress of a migration, as a bar or as lines."""

    def __init__(self, progress: "Progress", *, lines: bool) -> None:
        self._progress, self._lines = progress, lines
        self._bar = progress.add_task("schemas", total=None)
        self._total = self._done = 0
        self._said_at = time.monotonic()

    def begins(self, schemas: int) -> None:
        self._total += schemas
        self._progress.update(self._bar, total=self._total)

    def is_held_up(self, schema: str, reason: str) -> None:
        self._say_now_and_then(f"{schema} is tried again: {reason}.")

    def index_waits(self, schema: str, transaction: str) -> None:
        self._say(f"{schema}: its index waits for the transaction of {transaction}. End that, or wait.")

    def ends(self, schema: str) -> None:
        self._done += 1
        self._progress.update(self._bar, completed=self._done)
        if self._lines:
            self._say_now_and_then(f"{self._done} of {self._total} schemas; the last one was {schema}.")

    def _say_now_and_then(self, line: str) -> None:
        if time.monotonic() >= self._said_at + LINE_S:
            self._say(line)

    def _say(self, line: str) -> None:
        self._said_at = time.monotonic()
        if self._lines:
            click.echo(line, err=True)
        else:
            self._progress.console.print(line, markup=False, highlight=False)


async def bring_up(
    urls: frame.Urls,
    modules: Sequence[str] = (),
    workspaces: Sequence[str] = (),
    jobs: int = JOBS,
    watch: "MigrationWatch | None" = None,
) -> "list[Applied]":
    """Migrates as the owner. Then, as the app, gives every workspace the roles and user types that it has from the
    start. Raises Unfinished when a workspace could not be migrated."""
    from app.accounts.tenants import found_all, refuse_unknown
    from app.db.migrate import Unfinished, migrate
    from app.db.session import Database

    database = Database(urls.direct, pool_size=2)
    try:
        for workspace in workspaces:
            async with database.shared_transaction() as db:
                await refuse_unknown(db, workspace)
        wanted = {"modules": modules, "workspaces": workspaces}
        try:
            applied = await migrate(urls.need_owner(), urls.app_role, **wanted, jobs=jobs, watch=watch)
        except Unfinished as unfinished:
            if unfinished.past_shared:
                await found_all(database)
            raise
        await found_all(database)
    finally:
        await database.close()
    return applied


COMMANDS = (migrate_modules,)
