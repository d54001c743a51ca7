"""`migrate:modules`: the tables."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from app.commands import frame

if TYPE_CHECKING:
    from app.db.migrate import Applied

# Not read from app.db.migrate: that would load SQLAlchemy and Alembic for every `muster --help`. A test compares them.
MODULES = ("host", "clock", "surveys")


@click.command("migrate:modules")
@click.option("--module", "modules", type=click.Choice(MODULES), multiple=True, help="Default: all.")
@click.option("--workspace", metavar="KEY", help="Only this workspace.")
@click.option("--all-workspaces", is_flag=True, help="Every workspace; the default.")
@frame.json_option
def migrate_modules(*, modules: tuple[str, ...], workspace: str | None, all_workspaces: bool, as_json: bool) -> None:
    """Create or upgrade the tables. Safe to run twice, and at once."""
    if workspace and all_workspaces:
        raise click.UsageError("give --workspace or --all-workspaces, not both")
    settings = frame.settings_of_environment()
    with frame.database(settings) as urls:
        applied = frame.run(bring_up(urls, modules, [workspace] if workspace else []))
    changed = [one for one in applied if one.changed]
    lines = [f"{one.schema}.{one.module}: {one.before or 'nothing'} → {one.after}" for one in changed]
    frame.answer(
        [asdict(one) | {"changed": one.changed} for one in applied], *lines or ["Nothing to do."], as_json=as_json
    )


async def bring_up(urls: frame.Urls, modules: Sequence[str] = (), workspaces: Sequence[str] = ()) -> "list[Applied]":
    """Migrates as the owner; then, as the app, gives every workspace the roles and user types that it has from the start."""
    from app.accounts.tenants import found_all, refuse_unknown
    from app.db.migrate import migrate
    from app.db.session import Database

    database = Database(urls.direct, pool_size=2)
    try:
        for workspace in workspaces:
            async with database.shared_transaction() as db:
                await refuse_unknown(db, workspace)
        applied = await migrate(urls.need_owner(), urls.app_role, modules=modules, workspaces=workspaces)
        await found_all(database)
    finally:
        await database.close()
    return applied


COMMANDS = (migrate_modules,)
