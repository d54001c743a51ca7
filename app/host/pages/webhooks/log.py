"""`/webhooks/log`: every call to a receiver, with what was sent and what came back; and sending an event again."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import BigInteger, ColumnElement, Select, and_, any_, case, func, literal, not_, select

from app.db.searching import begins, contains
from app.errors import NotFound
from app.texts import whole
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec
from app.web.pages import done, page
from app.webhooks import addresses, endpoints
from app.webhooks.gathering import ID_START
from app.webhooks.kinds import TEST, TYPES
from app.webhooks.models import STANDS, WebhookAttempt, WebhookEndpoint, WebhookEvent

MAY = Requires("host.webhooks")
LATEST = 20
_ID = re.compile(f"{ID_START}[0-9a-f]*")
RESULTS = {"delivered": "Arrived", "failed": "Failed"}
KINDS = {name: one.label for name, one in TYPES.items()} | {TEST: "A test"}
RESULT: Any = case((WebhookAttempt.delivered, "delivered"), else_="failed")
BASE: Select[Any] = (
    select(
        WebhookAttempt.id,
        WebhookAttempt.endpoint_id,
        WebhookAttempt.event_id,
        WebhookAttempt.attempt,
        WebhookAttempt.started_at,
        WebhookAttempt.duration_ms,
        WebhookAttempt.http_status,
        WebhookAttempt.error,
        WebhookAttempt.sent,
        RESULT.label("result"),
        WebhookEvent.type,
        WebhookEvent.message_id,
        WebhookEvent.status,
        WebhookEndpoint.url,
    )
    .join(WebhookEvent, WebhookEvent.id == WebhookAttempt.event_id)
    .join(WebhookEndpoint, (WebhookEndpoint.id == WebhookAttempt.endpoint_id) & STANDS)
)


def _with_result(word: str) -> ColumnElement[bool]:
    """As the index on failed calls has it."""
    return WebhookAttempt.delivered.is_(True) if word == "delivered" else not_(WebhookAttempt.delivered)


def _of_webhook(text: str) -> ColumnElement[bool]:
    number = whole(text, 18)
    return WebhookAttempt.endpoint_id == literal(-1 if number is None else number, BigInteger)


def _mentions(text: str) -> ColumnElement[bool]:
    """Calls whose address holds every word. A word such as `msg_5f0c` is the beginning of the event's id.
    An index finds
    each: a condition on both would look at all calls."""
    return and_(
        *(_of_event(word.lower()) if _ID.fullmatch(word.lower()) else _to_address(word) for word in text.split())
    )


def _of_event(start: str) -> ColumnElement[bool]:
    return begins(WebhookEvent.message_id, start)


def _to_address(word: str) -> ColumnElement[bool]:
    found = select(WebhookEndpoint.id).where(contains(WebhookEndpoint.url)(word)).correlate(None)
    return WebhookAttempt.endpoint_id == any_(func.array(found.scalar_subquery()))


SPEC = ListSpec(
    name="webhook-log",
    label="calls",
    url="/webhooks/log",
    key=WebhookAttempt.id,
    sort="-started_at",
    columns=(
        Column("started_at", "Sent", lambda row: row.started_at, WebhookAttempt.id),
        Column("webhook", "Webhook", lambda row: addresses.shown(row.url)),
        Column("type", "Event", lambda row: row.type),
        Column("result", "Result", lambda row: row.result),
        Column("http_status", "Status", lambda row: row.http_status, numeric=True),
        Column("duration_ms", "Took", lambda row: row.duration_ms, numeric=True, hint="Milliseconds"),
        Column("attempt", "Attempt", lambda row: row.attempt, numeric=True),
        Column("error", "What came back", lambda row: row.error),
        Column("message_id", "Event id", lambda row: row.message_id, shown=False, hint="The header webhook-id"),
    ),
    filters=(
        Filter("result", "Result", _with_result, kind="select", options=RESULTS),
        Filter("type", "Event", lambda value: WebhookEvent.type == value, kind="select", options=KINDS),
        Filter("q", "Search", _mentions, placeholder="Address or event id"),
        Filter("webhook", "Webhook", _of_webhook, kind="hidden"),
    ),
    empty=Empty("send", "Nothing was sent yet", "Each call to a receiver appears here, and stays for 30 days."),
    sorts_many=("started_at",),
)


@get("/webhooks/log", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, BASE, kind)
    view = await lists.load(ctx, SPEC, BASE)
    values: dict[str, Any] = {"kinds": KINDS, "results": RESULTS, "now": datetime.now(UTC), "shown": addresses.shown}
    return await page(ctx, "host/webhooks/log.html", fragment="list", view=view, **values)


@get("/webhooks/log/{attempt_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], attempt_id: FromPath[int]) -> Response[Any]:
    call = (await ctx.db.execute(BASE.where(WebhookAttempt.id == attempt_id))).one_or_none()
    if call is None:
        raise NotFound("There is no such call, or it was removed after 30 days.")
    values: dict[str, Any] = {
        "call": call,
        "url": addresses.shown(call.url),
        "body": msgspec.json.format(call.sent.encode(), indent=2).decode(),
        "kinds": KINDS,
        "results": RESULTS,
    }
    return await page(ctx, "host/webhooks/call.html", fragment="drawer", **values)


@post("/webhooks/log/{attempt_id:int}/again", guards=[MAY], status_code=200)
async def again(ctx: NamedDependency[Context], attempt_id: FromPath[int]) -> Response[Any]:
    call = (await ctx.db.execute(BASE.where(WebhookAttempt.id == attempt_id))).one_or_none()
    if call is None:
        raise NotFound("There is no such call, or it was removed after 30 days.")
    await endpoints.send_again(ctx.db, call.endpoint_id, call.event_id)
    return await done(ctx, f"/webhooks/{call.endpoint_id}", "The event is sent again now, with the same id.")


async def latest(ctx: Context, webhook_id: int) -> Sequence[Any]:
    """The last calls to one receiver."""
    asked = BASE.where(WebhookAttempt.endpoint_id == webhook_id).order_by(WebhookAttempt.id.desc()).limit(LATEST)
    return list(await ctx.db.execute(asked))


ROUTES = [index, show, again]
