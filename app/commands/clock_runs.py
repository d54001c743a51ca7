"""`clock:sync`, `clock:backfill` and `clock:import`: work in the foreground, with progress."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from app.commands import frame
from app.counting import count

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.clock.punches.changes import UnderWay
    from app.parts import Parts

# A copy of what app.clock.profiles knows, so that `muster --help` stays quick. A test compares them.
RESOURCES = ("departments", "positions", "areas", "locations", "devices", "employees", "transactions")
LOOK_S = 1.0


@click.command("clock:sync")
@click.option("--resource", "resources", type=click.Choice(RESOURCES), multiple=True, help="Default: all.")
@click.option("--budget-seconds", type=click.IntRange(1, 7200), help="Default: the setting run_budget_seconds.")
@click.option("--no-import", is_flag=True, help="Mirror only; write no attendance.")
@frame.workspace_option
@frame.json_option
def clock_sync(
    *, resources: Sequence[str], budget_seconds: int | None, no_import: bool, workspace: str, as_json: bool
) -> None:
    """One sync run in the foreground. Exits 1 with the TC code of a failed run;
    a run that used up its budget exits 0."""
    request: dict[str, Any] = {"resources": list(resources)} if resources else {}
    if budget_seconds is not None:
        request["budget_seconds"] = budget_seconds
    if no_import:
        request["import"] = False
    run = frame.with_parts(partial(_sync, workspace=workspace, request=request), workspace=workspace)
    _tell(run, as_json=as_json)


@click.command("clock:backfill")
@click.argument("first", type=frame.DAY, metavar="FROM")
@click.argument("last", type=frame.DAY, metavar="TO")
@click.option("--emp-code", "emp_codes", multiple=True, metavar="C", help="Only these people; default: all.")
@frame.workspace_option
@frame.json_option
def clock_backfill(*, first: date, last: date, emp_codes: Sequence[str], workspace: str, as_json: bool) -> None:
    """Read the days from FROM to TO again, in slices. After an interruption the next run continues; the live cursor
    stays."""
    act = partial(_backfill, workspace=workspace, first=first, last=last, emp_codes=emp_codes)
    _tell(frame.with_parts(act, workspace=workspace), as_json=as_json)


async def _backfill(
    parts: "Parts", *, workspace: str, first: date, last: date, emp_codes: Sequence[str]
) -> dict[str, Any]:
    from app.accounts.audit import COMMAND_LINE
    from app.clock import zones
    from app.clock.sync import backfill

    async with parts.database.transaction(workspace) as db:
        today = await zones.local_today(db, datetime.now(UTC))
        await backfill.ask(db, COMMAND_LINE, first, last, emp_codes, today=today)
    return await _sync(parts, workspace=workspace, request={"resources": ["transactions"]})


def _tell(run: dict[str, Any], *, as_json: bool) -> None:
    """Prints a run. A failed run ends the command with its code."""
    frame.answer(run, *_told(run), as_json=as_json)
    if run["status"] == "failed":
        frame.refuse(f"{run['error_code']}: {run['error_message'] or 'the run failed'}")


async def _sync(parts: "Parts", *, workspace: str, request: dict[str, Any]) -> dict[str, Any]:
    """Starts a run and carries it out. When another process carries out a run, this one watches it to its end, and
    continues it if that process dies."""
    from app.accounts.audit import COMMAND_LINE
    from app.clock.sync import run as sync
    from app.clock.sync import run_rows as runs

    async with parts.database.transaction(workspace) as db:
        run_id, joined = await runs.start_run(db, "command", request, COMMAND_LINE)
    if joined:
        click.echo(f"Run {run_id} is already running; this joins it.", err=True)
    with _bar() as bar:
        carry_out = partial(sync.run, parts, workspace, watch=partial(_show, bar, bar.add_task("starting", total=None)))
        try:
            end = await carry_out(run_id)
            while end.status in runs.OPEN:
                await asyncio.sleep(LOOK_S)
                end = await carry_out(run_id)
            run_id = end.run_id
        except Exception:
            # The log has a fault of ours, and the run was closed as failed, with its reason.
            if (await _run_row(parts, workspace, run_id))["status"] != "failed":
                raise
    return await _run_row(parts, workspace, run_id)


async def _run_row(parts: "Parts", workspace: str, run_id: int) -> dict[str, Any]:
    import msgspec

    from app.clock.api.rows import run_row
    from app.clock.sync import run_rows as runs

    async with parts.database.transaction(workspace) as db:
        plain: dict[str, Any] = msgspec.to_builtins(run_row(await runs.get_run(db, run_id)))
    return plain


def _show(bar: "Progress", task: "TaskID", progress: dict[str, Any]) -> None:
    """Shows `progress`, as the Sync Center does live."""
    bar.update(
        task,
        description=str(progress.get("resource") or "working"),
        completed=progress.get("rows") or 0,
        total=progress.get("total"),
    )


@contextmanager
def _bar() -> "Iterator[Progress]":
    """A bar on stderr, and only on a terminal, because stdout is for the result."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        yield bar


def _told(run: dict[str, Any]) -> list[str]:
    code = f", {run['error_code']}: {run['error_message'].rstrip('.')}" if run.get("error_code") else ""
    lines = [f"Run {run['id']}: {run['status']}{code}. {count(run['calls'], 'call', 'calls')}."]
    for name, counts in run["resources"].items():
        lines.append(
            f"  {name}: {', '.join(f'{number} {word}' for word, number in counts.items() if number) or 'nothing'}"
        )
    outcomes = {name: number for name, number in run["import"].items() if number}
    if outcomes:
        lines.append(f"  import: {', '.join(f'{number} {name}' for name, number in outcomes.items())}")
    return lines


@click.command("clock:import")
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@frame.workspace_option
@frame.json_option
def clock_import(*, dry_run: bool, workspace: str, as_json: bool) -> None:
    """Import waiting punches into attendance, without asking the server."""
    done = frame.with_parts(partial(_import, workspace=workspace, dry_run=dry_run), workspace=workspace)
    document = {
        "dry_run": dry_run,
        "judged": done.judged,
        "outcomes": dict(done.outcomes),
        "records_created": done.created,
        "records_updated": done.updated,
    }
    would = "would be " if dry_run else ""
    lines = [f"{done.judged} punches judged; {done.created} records {would}created, {done.updated} {would}updated."]
    lines += [f"  {number} {name}" for name, number in sorted(done.outcomes.items())]
    if dry_run and frame.in_transaction(_changes, workspace):
        lines.append("Punches that a changed rule or terminal concerns are not in these numbers; they come after them.")
    frame.answer(document, *lines, as_json=as_json)


async def _changes(db: "AsyncSession") -> "list[UnderWay]":
    from app.clock.punches import changes

    return await changes.under_way(db)


async def _import(parts: "Parts", *, workspace: str, dry_run: bool) -> Any:
    from app.clock.importing import import_due
    from app.clock.punches import daily_totals
    from app.errors import Refusal

    with _bar() as bar:
        task = bar.add_task("judging", total=None)

        async def tell(done: int, of: int) -> bool:
            bar.update(task, completed=done, total=of)
            return True

        act = import_due.rehearse if dry_run else import_due.import_due
        try:
            done = await act(partial(parts.database.transaction, workspace), progress=tell)
        except import_due.ImportFailedError as error:
            raise Refusal(f"{error.code}: {error}") from error
    if not dry_run:
        await daily_totals.roll_up(parts.database, workspace)
    return done


COMMANDS = (clock_sync, clock_backfill, clock_import)
