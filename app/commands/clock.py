"""`clock:connect`, `clock:settings`, `clock:bind`, `clock:clear`, `clock:ignore`, `clock:retry`, `clock:device`, `clock:simulate`: what the pages do. Runs: clock_runs."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from app.commands import children, frame
from app.commands.accounts import first_line_of_stdin

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.clock.long_acts import Progress
    from app.clock.remote import TestStep
    from app.parts import Parts

PROFILES = ("cloud", "onprem")


@click.command("clock:connect")
@click.argument("url")
@click.option("--username", required=True)
@click.option("--profile", type=click.Choice(PROFILES), required=True)
@click.option("--timezone", metavar="ZONE", required=True, help="IANA name, such as Europe/Berlin.")
@click.option("--company", help="Where the server asks for one.")
@click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input; default: ask, or keep the saved one."
)
@click.option("--no-test", is_flag=True, help="Save without trying it.")
@frame.workspace_option
@frame.json_option
def clock_connect(
    *,
    url: str,
    username: str,
    profile: str,
    timezone: str,
    company: str | None,
    password_stdin: bool,
    no_test: bool,
    workspace: str,
    as_json: bool,
) -> None:
    """Save the connection to the time-clock server, and test it."""
    from app.clock import connection
    from app.secrets import Secret

    password = _password(from_stdin=password_stdin)
    secret = Secret(password) if password else None
    form = connection.ConnectionForm(url, username, profile, timezone, secret, company)

    async def connect(parts: "Parts") -> "list[TestStep]":
        from app.host.audit import COMMAND_LINE

        async with parts.database.transaction(workspace) as db:
            await connection.save(db, parts.keys, COMMAND_LINE, form)
        return [] if no_test else await _test(parts, workspace)

    steps = frame.with_parts(connect, workspace=workspace)
    _tell_test(url, steps, tested=not no_test, as_json=as_json)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return first_line_of_stdin()
    if not sys.stdin.isatty():
        return ""
    answer: str = click.prompt(
        "Password (empty: keep the saved one)", default="", hide_input=True, show_default=False, err=True
    )
    return answer


async def _test(parts: "Parts", workspace: str) -> "list[TestStep]":
    from app.clock import api_log, connection
    from app.host.audit import COMMAND_LINE

    log = api_log.logging_to(parts.database, workspace)
    return [step async for step in connection.test(parts, workspace, COMMAND_LINE, log)]


def _tell_test(url: str, steps: "Sequence[TestStep]", *, tested: bool, as_json: bool) -> None:
    failed = next((step for step in steps if not step.ok), None)
    document = {"url": url, "tested": tested, "ok": failed is None, "steps": [asdict(step) for step in steps]}
    lines = [f"{'ok  ' if step.ok else 'FAIL'} {step.name}: {step.sentence}" for step in steps]
    frame.answer(document, *lines, "Saved." if failed is None else "Saved, but it does not work yet.", as_json=as_json)
    if failed is not None:
        frame.refuse(f"{failed.code or 'TC-NET'}: {failed.sentence}")


@click.command("clock:settings")
@click.argument("changes", metavar="[NAME=VALUE]...", nargs=-1)
@frame.workspace_option
@frame.json_option
def clock_settings(*, changes: Sequence[str], workspace: str, as_json: bool) -> None:
    """Show the module settings, or set some."""
    from app.clock import settings
    from app.host.audit import COMMAND_LINE

    wrong = [change for change in changes if "=" not in change]
    if wrong:
        raise click.UsageError(f"{wrong[0]!r} is not of the form NAME=VALUE")
    pairs = dict(change.split("=", 1) for change in changes)

    async def read_or_write(db: "AsyncSession") -> Any:
        if not pairs:
            return await settings.read_settings(db)
        return await settings.write_settings(db, COMMAND_LINE, pairs)

    values = asdict(frame.in_transaction(read_or_write, workspace))
    width = max(map(len, values))
    lines = [
        f"{name:{width}}  {str(value).lower() if isinstance(value, bool) else value}" for name, value in values.items()
    ]
    frame.answer(values, *lines, as_json=as_json)


@click.command("clock:bind")
@click.argument("emp_code")
@click.argument("id_number")
@click.option(
    "--take-back",
    "undo",
    flag_value="take_back",
    help="Delete the records that the code's punches made for somebody else.",
)
@click.option("--move", "undo", flag_value="move", help="Give those records to this employee.")
@frame.workspace_option
@frame.json_option
def clock_bind(*, emp_code: str, id_number: str, undo: str | None, workspace: str, as_json: bool) -> None:
    """Link a clock code to the employee with an ID number; refused where two people share it."""
    from app.clock import binding_rows, bindings
    from app.host import people

    async def bind(db: "AsyncSession") -> "tuple[Progress | None, list[str]]":
        employee_id = await people.one_with_id_number(db, id_number)
        progress = await _bind(db, await bindings.id_of_code(db, emp_code), employee_id, undo)
        codes = (await binding_rows.codes_of(db, [employee_id]))[employee_id]
        return progress, [code for code in codes if code != emp_code]

    progress, others = frame.in_transaction(bind, workspace)
    document = {"emp_code": emp_code, "id_number": id_number, "state": "bound", "other_codes": others}
    note = [f"{id_number} also has {', '.join(others)}; punches of all codes are judged together."] if others else []
    _answer_undone(progress, document, f"{emp_code} is bound to {id_number}.", *note, as_json=as_json)


async def _bind(db: "AsyncSession", clock_employee_id: int, employee_id: int, undo: str | None) -> "Progress | None":
    from app.clock import bindings, undoing
    from app.host.audit import COMMAND_LINE

    if undo is None:
        await bindings.bind(db, COMMAND_LINE, clock_employee_id, employee_id)
        return None
    return await undoing.bind(db, COMMAND_LINE, clock_employee_id, employee_id, cast("undoing.Undo", undo))


@click.command("clock:clear")
@click.argument("emp_code")
@click.option("--take-back", is_flag=True, help="Delete the records that the code's punches made, too.")
@frame.workspace_option
@frame.json_option
def clock_clear(*, emp_code: str, take_back: bool, workspace: str, as_json: bool) -> None:
    """End the link of a code; no automatic pass touches it until Match again."""
    if not take_back:
        _change_state("clear", emp_code, workspace, "unbound", as_json=as_json)
        return
    from app.clock import bindings, undoing
    from app.host.audit import COMMAND_LINE

    async def clear(db: "AsyncSession") -> "Progress":
        employee_id = await bindings.id_of_code(db, emp_code)
        await bindings.refuse_unless_open(db, "clear", employee_id)
        return (await undoing.clear(db, COMMAND_LINE, [employee_id]))[1]

    progress = frame.in_transaction(clear, workspace)
    document = {"emp_code": emp_code, "state": "unbound"}
    _answer_undone(progress, document, f"{emp_code} is unbound.", as_json=as_json)


def _answer_undone(progress: "Progress | None", document: dict[str, Any], *lines: str, as_json: bool) -> None:
    """The same answer with what became of the records, where that was asked for."""
    if progress is None:
        frame.answer(document, *lines, as_json=as_json)
        return
    from app.clock.pages import long_act_words

    records = {"records": progress.total, "done": progress.done, "left": progress.left}
    finished = {"undone": {**records, "finished": progress.finished_at is not None}}
    frame.answer({**document, **finished}, *lines, long_act_words.told(progress).sentence, as_json=as_json)


@click.command("clock:ignore")
@click.argument("emp_code")
@frame.workspace_option
@frame.json_option
def clock_ignore(*, emp_code: str, workspace: str, as_json: bool) -> None:
    """Leave a code out on purpose: test cards, shared badges."""
    _change_state("ignore", emp_code, workspace, "ignored", as_json=as_json)


def _change_state(act: str, emp_code: str, workspace: str, state: str, *, as_json: bool) -> None:
    """`act` is a verb of app.clock.bindings that takes ids; it skips codes whose state does not allow it, and we say so."""
    from app.clock import bindings
    from app.host.audit import COMMAND_LINE

    async def change(db: "AsyncSession") -> None:
        employee_id = await bindings.id_of_code(db, emp_code)
        await bindings.refuse_unless_open(db, act, employee_id)
        await getattr(bindings, act)(db, COMMAND_LINE, [employee_id])

    frame.in_transaction(change, workspace)
    frame.answer({"emp_code": emp_code, "state": state}, f"{emp_code} is {state}.", as_json=as_json)


@click.command("clock:retry")
@click.option("--emp-code", metavar="C", help="Punches of this code alone.")
@click.option("--from", "first", type=frame.DAY, help="First local day.")
@click.option("--to", "last", type=frame.DAY, help="Last local day, included.")
@click.option("--outcome", metavar="O", help="Only those that show this, such as attendance_deleted.")
@frame.workspace_option
@frame.json_option
def clock_retry(
    *,
    emp_code: str | None,
    first: date | None,
    last: date | None,
    outcome: str | None,
    workspace: str,
    as_json: bool,
) -> None:
    """Have punches judged anew; deleted records may come back, what belongs to a record stays."""
    from sqlalchemy import and_, true

    from app.clock import resolutions
    from app.clock.codes import Outcome
    from app.clock.models import Punch
    from app.host.audit import COMMAND_LINE

    if outcome is not None and outcome not in set(Outcome):
        raise click.UsageError(f"there is no outcome {outcome}; there are {', '.join(Outcome)}")
    frame.refuse_backwards(first, last)
    conditions = [
        Punch.emp_code == emp_code if emp_code else None,
        Punch.local_date >= first if first else None,
        Punch.local_date <= last if last else None,
        Punch.import_outcome == outcome if outcome else None,
    ]
    which = and_(true(), *(condition for condition in conditions if condition is not None))
    done = frame.in_transaction(lambda db: resolutions.retry(db, COMMAND_LINE, which), workspace)
    waiting = "" if done.outcomes is not None else "; the import follows in the background"
    document = {"punches": done.punches, "outcomes": done.outcomes}
    frame.answer(document, f"{done.punches} punches are judged anew{waiting}.", as_json=as_json)


@click.command("clock:device")
@click.argument("serial", metavar="SN")
@click.option("--direction", type=click.Choice(("by_code", "in", "out", "undirected")))
@click.option("--kind", type=click.Choice(("attendance", "access")))
@frame.workspace_option
@frame.json_option
def clock_device(*, serial: str, direction: str | None, kind: str | None, workspace: str, as_json: bool) -> None:
    """Say which way a terminal counts, and whether it is an attendance clock or a door reader."""
    if direction is None and kind is None:
        raise click.UsageError("give --direction or --kind")
    from app.clock import devices
    from app.host.audit import COMMAND_LINE

    async def change(db: "AsyncSession") -> list[devices.Changed]:
        changes = []
        if direction is not None:
            changes.append(await devices.set_direction(db, COMMAND_LINE, serial, direction))
        if kind is not None:
            changes.append(await devices.set_kind(db, COMMAND_LINE, serial, kind))
        return changes

    done = frame.in_transaction(change, workspace)
    changed, again = any(one.changed for one in done), max(one.judged_again for one in done)
    given = {name: word for name, word in (("direction", direction), ("kind", kind)) if word is not None}
    sentence = f"{serial} was set; {again} punches are judged again." if changed else "Nothing changed."
    frame.answer({"sn": serial, **given, "changed": changed, "judged_again": again}, sentence, as_json=as_json)


def _zone(_: click.Context, __: click.Parameter, name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter(f"{name!r} is no time zone.") from None


@click.command("clock:simulate")
@click.option("--port", type=click.IntRange(1, 65535), default=9009, show_default=True)
@click.option("--profile", type=click.Choice(PROFILES), default="cloud", show_default=True)
@click.option("--employees", type=click.IntRange(0, 100_000), default=200, show_default=True)
@click.option("--days", type=click.IntRange(0, 3650), default=30, show_default=True, help="Days of history.")
@click.option("--seed", type=int, default=7, show_default=True)
@click.option("--fault", "faults", multiple=True, metavar="NAME", help="May be given several times.")
@click.option("--list-faults", is_flag=True, help="Name the faults, and end.")
@click.option("--zone", default="Europe/Berlin", show_default=True, callback=_zone, help="The server's own time zone.")
def clock_simulate(
    *,
    port: int,
    profile: str,
    employees: int,
    days: int,
    seed: int,
    faults: Sequence[str],
    list_faults: bool,
    zone: str,
) -> None:
    """Run the time-clock simulator alone, until it is interrupted."""
    from app.simulator.__main__ import main

    children.follow_parent()
    arguments = [
        "--port",
        port,
        "--profile",
        profile,
        "--employees",
        employees,
        "--days",
        days,
        "--seed",
        seed,
        "--zone",
        zone,
    ]
    for fault in faults:
        arguments += ["--fault", fault]
    if list_faults:
        arguments.append("--list-faults")
    raise SystemExit(main([str(argument) for argument in arguments]))


COMMANDS = (
    clock_connect,
    clock_settings,
    clock_bind,
    clock_clear,
    clock_ignore,
    clock_retry,
    clock_device,
    clock_simulate,
)
