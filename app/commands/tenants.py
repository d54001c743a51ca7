"""`tenant:create`."""

import click

from app.commands import frame


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
        document, f"The tenant {key} stands. Add its administrator with user:create --workspace {key}.", as_json=as_json
    )


async def _create(urls: frame.Urls, key: str, name: str, ceiling: str) -> None:
    from app.accounts.tenants import create_tenant
    from app.db.session import Database

    database = Database(urls.direct, pool_size=2)
    try:
        await create_tenant(database, urls.need_owner(), urls.app_role, key=key, name=name, ceiling=ceiling)
    finally:
        await database.close()


COMMANDS = (tenant_create,)
