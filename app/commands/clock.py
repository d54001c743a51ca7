"""`clock:connect`, `clock:settings`, `clock:device`, `clock:simulate`: what the pages do. Runs: clock_runs; codes:
clock_bindings; punches: clock_punches."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from app.commands import children, frame
from app.commands.accounts import first_line_of_stdin

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.clock.punches.changes import UnderWay
    from app.clock.remote import TestStep
    from app.parts import Parts

PROFILES = ("cloud", "onprem")


@click.command("clock:connect")
@click.argument("url")
@click.option("--username", required=True)
@click.option("--profile", type=click.Choice(PROFILES), required=True)
@click.option("--timezone", metavar="ZONE", required=True, help="IANA name, such as Europe/Berlin.")
@click.option("--company", help="Only for servers that ask for one.")
@click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input; default: ask, or keep the saved one."
)
@click.option("--no-test", is_flag=True, help="Save without a test.")
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
    from app.clock.connection import saved as connection
    from app.clock.connection.connection_form import ConnectionForm
    from app.secrets import Secret

    password = _password(from_stdin=password_stdin)
    secret = Secret(password) if password else None
    form = ConnectionForm(url, username, profile, timezone, secret, company)

    async def connect(parts: "Parts") -> "tuple[list[TestStep], list[UnderWay]]":
        from app.accounts.audit import COMMAND_LINE
        from app.clock.punches import changes

        async with parts.database.transaction(workspace) as db:
            await connection.save(db, parts.keys, COMMAND_LINE, form)
            under_way = await changes.under_way(db)
        return ([] if no_test else await _test(parts, workspace)), under_way

    steps, under_way = frame.with_parts(connect, workspace=workspace)
    lines = [_so_far(one) for one in under_way]
    _tell_test(url, steps, lines, tested=not no_test, as_json=as_json)


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
    from app.accounts.audit import COMMAND_LINE
    from app.clock.connection import call_log
    from app.clock.connection import saved as connection

    log = call_log.logging_to(parts.database, workspace)
    return [step async for step in connection.test(parts, workspace, COMMAND_LINE, log)]


def _tell_test(url: str, steps: "Sequence[TestStep]", also: Sequence[str], *, tested: bool, as_json: bool) -> None:
    failed = next((step for step in steps if not step.ok), None)
    document = {"url": url, "tested": tested, "ok": failed is None, "steps": [asdict(step) for step in steps]}
    lines = [f"{'ok  ' if step.ok else 'FAIL'} {step.name}: {step.sentence}" for step in steps]
    frame.answer(
        document, *lines, *also, "Saved." if failed is None else "Saved, but it does not work yet.", as_json=as_json
    )
    if failed is not None:
        frame.refuse(f"{failed.code or 'TC-NET'}: {failed.sentence}")


@click.command("clock:settings")
@click.argument("changes", metavar="[NAME=VALUE]...", nargs=-1)
@frame.workspace_option
@frame.json_option
def clock_settings(*, changes: Sequence[str], workspace: str, as_json: bool) -> None:
    """Show the module settings, or set some."""
    from app.accounts.audit import COMMAND_LINE
    from app.clock import settings
    from app.clock.punches import changes as of_punches

    wrong = [change for change in changes if "=" not in change]
    if wrong:
        raise click.UsageError(f"{wrong[0]!r} is not of the form NAME=VALUE")
    pairs = dict(change.split("=", 1) for change in changes)

    async def read_or_write(db: "AsyncSession") -> Any:
        if pairs:
            return await settings.write_settings(db, COMMAND_LINE, pairs), await of_punches.under_way(db)
        return await settings.read_settings(db), await of_punches.under_way(db)

    stored, under_way = frame.in_transaction(read_or_write, workspace)
    values = asdict(stored)
    width = max(map(len, values))
    lines = [
        f"{name:{width}}  {str(value).lower() if isinstance(value, bool) else value}" for name, value in values.items()
    ]
    lines += [_so_far(one) for one in under_way]
    frame.answer(values, *lines, as_json=as_json)


def _so_far(change: "UnderWay") -> str:
    far = "waits for the import" if change.total is None else f"{change.judged:,} of {change.total:,} punches so far"
    return f"{change.label}: {far}."


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
    from app.accounts.audit import COMMAND_LINE
    from app.clock.mirror import devices

    async def change(db: "AsyncSession") -> list[devices.DeviceChange]:
        changes = []
        if direction is not None:
            changes.append(await devices.set_direction(db, COMMAND_LINE, serial, direction))
        if kind is not None:
            changes.append(await devices.set_kind(db, COMMAND_LINE, serial, kind))
        return changes

    done = frame.in_transaction(change, workspace)
    changed, again = any(one.changed for one in done), max(one.judged_again for one in done)
    given = {name: word for name, word in (("direction", direction), ("kind", kind)) if word is not None}
    sentence = f"{serial} was set. To be judged again: {devices.punches(again)}." if changed else "Nothing changed."
    frame.answer({"sn": serial, **given, "changed": changed, "judged_again": again}, sentence, as_json=as_json)


def _zone(_: click.Context, __: click.Parameter, name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter(f"{name!r} is not a time zone.") from None


@click.command("clock:simulate")
@click.option("--port", type=click.IntRange(1, 65535), default=9009, show_default=True)
@click.option("--profile", type=click.Choice(PROFILES), default="cloud", show_default=True)
@click.option("--employees", type=click.IntRange(0, 100_000), default=200, show_default=True)
@click.option("--days", type=click.IntRange(0, 3650), default=30, show_default=True, help="Days of history.")
@click.option("--seed", type=int, default=7, show_default=True)
@click.option("--fault", "faults", multiple=True, metavar="NAME", help="May be given several times.")
@click.option("--list-faults", is_flag=True, help="List the faults and exit.")
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
    clock_device,
    clock_simulate,
)
