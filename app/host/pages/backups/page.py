"""`/admin/backups`: the address that backups call, and within how many hours the next call is expected.
On the platform only."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.db.locks import hold_name
from app.host.backups import monitor, watch
from app.host.backups.models import BackupWatch
from app.host.problem_kinds import backup_overdue
from app.problems import looking
from app.web import edits, once
from app.web.bulk import ask_to
from app.web.context import Context
from app.web.fields import Number
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.pages import done, go, page, shown_once

URL = "/admin/backups"
MAY = Requires("admin.backups", platform_only=True)
FORM = Form(
    Number(
        "expected_hours",
        "Expected every",
        required=True,
        least=1,
        most=watch.MOST_HOURS,
        unit="hours",
        help="A backup that is made every night is expected every 26 hours: some take longer than others.",
    )
)


@get(URL, guards=[MAY])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    held = await watch.read(ctx.db)
    return await _backups_page(ctx, held, edits.opened(ctx, FORM, _values(held)))


@post(URL, guards=[MAY], status_code=200)
async def save(ctx: NamedDependency[Context]) -> Response[Any]:
    await hold_name(ctx.db, watch.SUBJECT)
    held = await watch.read(ctx.db)
    form = await edits.sent(ctx, FORM, _values(held), about=(watch.SUBJECT, watch.SUBJECT))
    if not form.ok:
        return await _backups_page(ctx, held, form, status=form.status)
    if not await watch.expect(ctx.db, ctx.actor, form["expected_hours"]):
        return await done(ctx, URL, "Nothing was changed.", level="info")
    await looking.look(ctx.db, {backup_overdue.KIND})
    return await done(ctx, URL, "The hours were saved.")


@get(f"{URL}/address", guards=[MAY])
async def ask_to_replace(ctx: NamedDependency[Context]) -> Response[Any]:
    return await ask_to(
        ctx,
        "Replace",
        "the address",
        consequence="The address that backups call now stops working at once. Enter the new one in their programs.",
        cancel_url=URL,
    )


@post(f"{URL}/address", guards=[MAY], status_code=200)
async def make_address(ctx: NamedDependency[Context]) -> Response[Any]:
    """Only the hash of its secret is stored, so the next page shows it for the only time."""
    await hold_name(ctx.db, watch.SUBJECT)
    secret = await watch.make_address(ctx.db, ctx.actor)
    address = f"{ctx.parts.settings.base_url}/ping/{secret}"
    return await once.show_next(ctx, f"{URL}/address/made", "The address was made.", address=address)


@get(f"{URL}/address/made", guards=[MAY])
async def show_address(ctx: NamedDependency[Context]) -> Response[Any]:
    if (made := once.taken(ctx)) is None:
        return go(URL)
    return shown_once(await page(ctx, "host/backups/address.html", home=URL, **made))


@get(f"{URL}/remove", guards=[MAY])
async def ask_to_remove(ctx: NamedDependency[Context]) -> Response[Any]:
    return await ask_to(
        ctx,
        "Remove",
        "the address",
        consequence="It stops working at once, and no backup is expected after that. Backups that call it get an error.",
        cancel_url=URL,
    )


@post(f"{URL}/remove", guards=[MAY], status_code=200)
async def remove(ctx: NamedDependency[Context]) -> Response[Any]:
    await hold_name(ctx.db, watch.SUBJECT)
    if not await watch.remove(ctx.db, ctx.actor):
        return await done(ctx, URL, "There was no address.", level="info")
    await looking.look(ctx.db, {backup_overdue.KIND})
    return await done(ctx, URL, "The address was removed. No backup is expected now.")


def _values(held: BackupWatch | None) -> dict[str, Any]:
    return {"expected_hours": held.expected_hours if held else watch.DEFAULT_HOURS}


async def _backups_page(ctx: Context, held: BackupWatch | None, form: Bound, *, status: int = 200) -> Response[str]:
    now = datetime.now(UTC)
    pings = ctx.parts.settings.ping_url is not None
    late = held and watch.overdue_since(held.last_ping_at, held.expected_hours, now)
    return await page(
        ctx,
        "host/backups/show.html",
        status=status,
        watch=held,
        form=form,
        overdue_since=late,
        now=now,
        pings_monitor=pings,
        refused=await monitor.refusal(ctx.parts) if pings else "",
    )


ROUTES = [show, save, ask_to_replace, make_address, show_address, ask_to_remove, remove]
