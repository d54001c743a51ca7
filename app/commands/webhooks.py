"""`webhook:create`, `webhook:list`, `webhook:delete`, `webhook:test`."""

from typing import TYPE_CHECKING, Any

import click

from app.commands import frame

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.parts import Parts
    from app.webhooks.calling import SentCall
    from app.webhooks.endpoints import MadeWebhook


@click.command("webhook:create")
@click.argument("url")
@click.option("--event", "events", multiple=True, required=True, metavar="TYPE", help="Once for each type of event.")
@frame.workspace_option
@frame.json_option
def webhook_create(*, url: str, events: tuple[str, ...], workspace: str, as_json: bool) -> None:
    """Tell the program at URL what changes. Prints the secret that signs its events: only once."""

    async def create(parts: "Parts") -> "MadeWebhook":
        from app.accounts.audit import COMMAND_LINE
        from app.webhooks import endpoints

        await endpoints.check_reach(parts.outbound, url)
        async with parts.database.transaction(workspace) as db:
            return await endpoints.add(db, parts.keys, COMMAND_LINE, url, events)

    made = frame.with_parts(create, workspace=workspace)
    document = {"id": made.id, "url": made.url, "events": list(made.types), "secret": made.secret}
    lines = (f"Webhook {made.id} to {made.url}. Its secret, shown this once:", made.secret)
    frame.answer(document, *lines, as_json=as_json)


@click.command("webhook:list")
@frame.workspace_option
@frame.json_option
def webhook_list(*, workspace: str, as_json: bool) -> None:
    """Show all webhooks and their state."""

    async def read(db: "AsyncSession") -> list[dict[str, Any]]:
        from app.webhooks import addresses, endpoints, waiting

        waits = await waiting.counts(db)
        return [
            {
                "id": one.id,
                "url": addresses.shown(one.url),
                "events": one.types,
                "active": one.active,
                "off_reason": one.off_reason,
                "failures_in_a_row": one.failures,
                "waiting": waits.get(one.id, 0),
                "last_delivered_at": frame.instant(one.delivered_at),
            }
            for one in await endpoints.all_of(db)
        ]

    found = frame.in_transaction(read, workspace)
    lines = [_line(one) for one in found] or ["There is no webhook. Add one with webhook:create."]
    frame.answer({"webhooks": found}, *lines, as_json=as_json)


def _line(one: dict[str, Any]) -> str:
    fails = f", {one['failures_in_a_row']} failures in a row" if one["failures_in_a_row"] else ""
    state = "on" if one["active"] else f"off ({one['off_reason'] or 'switched off by a person'})"
    return f"{one['id']}  {one['url']}  {state}{fails}, {one['waiting']} waiting: {', '.join(one['events'])}"


@click.command("webhook:delete")
@click.argument("webhook_id", metavar="ID", type=frame.ID)
@frame.workspace_option
@frame.json_option
def webhook_delete(*, webhook_id: int, workspace: str, as_json: bool) -> None:
    """Remove a webhook, its log and the events that wait for it."""

    async def delete(db: "AsyncSession") -> None:
        from app.accounts.audit import COMMAND_LINE
        from app.webhooks import endpoints

        await endpoints.remove(db, COMMAND_LINE, webhook_id)

    frame.in_transaction(delete, workspace)
    frame.answer({"id": webhook_id, "deleted": True}, f"Webhook {webhook_id} was removed.", as_json=as_json)


@click.command("webhook:test")
@click.argument("webhook_id", metavar="ID", type=frame.ID)
@frame.workspace_option
@frame.json_option
def webhook_test(*, webhook_id: int, workspace: str, as_json: bool) -> None:
    """Send a test event now, also to a webhook that is off, and say what came back."""

    async def send(parts: "Parts") -> "SentCall":
        from app.webhooks.testing import try_out

        return await try_out(parts, workspace, webhook_id)

    sent = frame.with_parts(send, workspace=workspace)
    if sent.error:
        frame.refuse(f"It did not arrive. {sent.error}")
    document = {"id": webhook_id, "status": sent.http_status, "duration_ms": sent.duration_ms}
    said = f"It arrived: the receiver answered {sent.http_status} after {sent.duration_ms} ms."
    frame.answer(document, said, as_json=as_json)


COMMANDS = (webhook_create, webhook_list, webhook_delete, webhook_test)
