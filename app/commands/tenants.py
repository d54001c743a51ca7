"""`tenant:create`, `tenant:export`, `tenant:import`, `tenant:remove`."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from app.commands import frame
from app.counting import count

if TYPE_CHECKING:
    from app.config import Settings
    from app.moving.arriving import ImportedTenant
    from app.moving.leaving import ExportedTenant
    from app.moving.removing import RemovedTenant
    from app.secrets import Secret

PASSPHRASE = "MUSTER_PASSPHRASE"  # noqa: S105 - the name of a variable
_passphrase_option: frame.AppliesOption = click.option(
    "--passphrase-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"Its first line is the passphrase. Default: {PASSPHRASE} of the environment, else you are asked.",
)


@click.command("tenant:create")
@click.argument("key")
@click.option("--name", required=True)
@click.option("--ceiling", type=click.Choice(("none", "optional", "full")), default="optional", show_default=True)
@frame.json_option
def tenant_create(*, key: str, name: str, ceiling: str, as_json: bool) -> None:
    """Make a tenant workspace with all its tables."""
    settings = frame.settings_of_environment()
    with frame.database(settings) as urls:
        frame.run(_create(urls, key, name, ceiling))
    document = {"key": key, "name": name.strip(), "ceiling": ceiling}
    frame.answer(
        document,
        f"The tenant {key} was created. Add its administrator with user:create --workspace {key}.",
        as_json=as_json,
    )


async def _create(urls: frame.Urls, key: str, name: str, ceiling: str) -> None:
    from app.accounts.tenants import create_tenant
    from app.db.migrate import MigrationWatch
    from app.db.session import Database

    database = Database(urls.direct, pool_size=2)
    given = {"key": key, "name": name, "ceiling": ceiling}
    watch = MigrationWatch(waits_for=frame.say_who_is_at_work)
    try:
        await create_tenant(database, urls.need_owner(), urls.app_role, **given, watch=watch)
    finally:
        await database.close()


@click.command("tenant:export")
@click.argument("key")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--with-tokens", is_flag=True, help="Take API tokens along.")
@_passphrase_option
@frame.json_option
def tenant_export(*, key: str, file: Path, with_tokens: bool, passphrase_file: Path | None, as_json: bool) -> None:
    """Write a tenant, as it is at one moment, into a file that a passphrase seals."""
    settings = frame.settings_of_environment()
    if file.exists():
        frame.refuse(f"{file} exists already. Give another name, or take it away first.")
    passphrase = _passphrase(passphrase_file, twice=True)
    with frame.database(settings) as urls, _new_file(file) as opened:
        done = frame.run(_export(settings, urls, (key, with_tokens), opened, passphrase))
    document = {
        "key": key, "file": str(file), "rows": done.rows, "users": done.users, "sha256": done.sha256, "api_tokens": with_tokens,
        "left_behind": {"answers": done.answers_behind, "ratings": done.ratings_behind, "mails": done.mails_behind},
    }  # fmt: skip
    lines = (
        f"The tenant {key} is in {file}: {done.rows} rows, {done.users} users.",
        (
            f"Its users' answers to the platform's surveys ({done.answers_behind}) and ratings of its apps ({done.ratings_behind})"
            " stay behind."
        ),
        *_mails_behind(done.mails_behind),
        f"Import it with `muster tenant:import {file.name}`. The passphrase is stored nowhere.",
    )
    frame.answer(document, *lines, as_json=as_json)


def _mails_behind(number: int) -> tuple[str, ...]:
    waits = f"{count(number, 'mail waits', 'mails wait')} in the outbox and did not travel: they leave while the tenant is active here."
    return (waits,) if number else ()


async def _export(
    settings: "Settings", urls: frame.Urls, wanted: tuple[str, bool], file: BinaryIO, passphrase: "Secret"
) -> "ExportedTenant":
    from app.moving.leaving import TenantExport, export_tenant
    from app.parts import make_parts

    owner_url = urls.need_owner()
    parts = make_parts(settings, urls.direct, pool_size=2)
    try:
        export = TenantExport(wanted[0], owner_url, parts.keys, with_tokens=wanted[1])
        return await export_tenant(parts.database, export, file, passphrase)
    finally:
        await parts.close()


@click.command("tenant:import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_passphrase_option
@frame.json_option
def tenant_import(*, file: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Make a tenant from a file of tenant:export, completely or not at all."""
    settings = frame.settings_of_environment()
    with file.open("rb") as opened:
        from app.moving.box import read_header

        read_header(opened)  # Check the file first: if it is no such file, do not ask for a passphrase.
        passphrase = _passphrase(passphrase_file, twice=False)
        with frame.database(settings) as urls:
            done = frame.run(_import(settings, urls, opened, passphrase))
    document = {
        "key": done.key, "rows": done.rows, "users": done.users, "webhooks_off": done.webhooks_off, "sha256": done.sha256,
    }  # fmt: skip
    lines = (
        f"The tenant {done.key} is here: {done.rows} rows, {done.users} users.",
        "It is not active yet. Activate it on the page Tenants once it is deactivated in the other installation.",
        *_webhooks_off(done.webhooks_off),
        f"Check it: muster ledger:verify --workspace {done.key}, muster doctor.",
    )
    frame.answer(document, *lines, as_json=as_json)


def _webhooks_off(number: int) -> tuple[str, ...]:
    off = f"{count(number, 'webhook is', 'webhooks are')} off, since the other installation may still send."
    return (f"{off} Switch them on under Webhooks once it does not.",) if number else ()


async def _import(settings: "Settings", urls: frame.Urls, file: BinaryIO, passphrase: "Secret") -> "ImportedTenant":
    from app.db.migrate import MigrationWatch
    from app.moving.arriving import TenantImport, import_tenant
    from app.parts import make_parts

    parts = make_parts(settings, urls.direct, pool_size=1)
    watch = MigrationWatch(waits_for=frame.say_who_is_at_work)
    try:
        to = TenantImport(urls.need_owner(), urls.app_role, parts.keys, watch)
        return await import_tenant(to, file, passphrase)
    finally:
        await parts.close()


def _passphrase(file: Path | None, *, twice: bool) -> "Secret":
    """From the file, the environment, or the person. It is never an argument, because the list of processes shows
    arguments."""
    from app.secrets import Secret

    if file is not None:
        text = frame.read(file).decode("utf-8", "replace").split("\n", 1)[0].rstrip("\r")
    else:
        text = os.environ.get(PASSPHRASE, "") or _asked(twice=twice)
    if not text:
        frame.refuse("The passphrase is empty.")
    return Secret(text)


def _asked(*, twice: bool) -> str:
    if not sys.stdin.isatty():
        frame.refuse(f"There is no passphrase. Set {PASSPHRASE}, or give --passphrase-file.")
    return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True))


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that only its owner can read. It gets its name once it is complete."""
    descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():  # The file appeared in the meantime.
            frame.refuse(f"{path} exists already. Give another name, or take it away first.")
        Path(scratch).rename(path)
    finally:
        Path(scratch).unlink(missing_ok=True)


@click.command("tenant:remove")
@click.argument("key")
@click.option("--yes", "confirmed", metavar="KEY", help="The key once more, so that you are not asked.")
@frame.json_option
def tenant_remove(*, key: str, confirmed: str | None, as_json: bool) -> None:
    """Remove a deactivated tenant for good: its people, punches, attendance, answers, accounts.

    The audit stays. If it is cut off, run it again.
    """
    settings = frame.settings_of_environment()
    with frame.database(settings) as urls:
        there = frame.run(_counted(urls, key))
        for line in _goes(key, there):
            click.echo(line, err=True)
        if (confirmed or _typed(key)) != key:
            frame.refuse(f"That is not the key {key}. Nothing was removed.")
        frame.run(_remove(urls, key, there))
    frame.answer({"key": key, **asdict(there)}, f"The tenant {key} is removed.", as_json=as_json)


def _goes(key: str, there: "RemovedTenant") -> Iterator[str]:
    yield (
        f"The tenant {key} has {count(there.users, 'user', 'users')}, {count(there.people, 'person', 'people')},"
        f" {count(there.punches, 'punch', 'punches')}, {count(there.records, 'attendance record', 'attendance records')} and"
        f" {count(there.answers, 'answer', 'answers')}. All of it goes, with its settings, its jobs, and the keys of its answers."
    )
    yield f"The head of its ledger is {there.ledger_head} (row {there.ledger_rows}). A complete copy elsewhere has the same."


def _typed(key: str) -> str:
    """What the person types. Ends the command without a terminal."""
    if not sys.stdin.isatty():
        frame.refuse(f"Nothing was removed. Give --yes {key} to remove it without being asked.")
    return str(click.prompt(f"This can't be undone. Type {key} to remove it for good", err=True))


async def _counted(urls: frame.Urls, key: str) -> "RemovedTenant":
    from app.moving import removing

    return await removing.counted(urls.need_owner(), key)


async def _remove(urls: frame.Urls, key: str, there: "RemovedTenant") -> None:
    from app.db.migrate import MigrationWatch
    from app.moving import removing

    watch = MigrationWatch(waits_for=frame.say_who_is_at_work)
    await removing.remove_tenant(urls.need_owner(), key, there, watch)


COMMANDS = (tenant_create, tenant_export, tenant_import, tenant_remove)
