"""Runs the catcher: SMTP on one port of the loopback, its pages on another, which takes the events of webhooks too."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from aiosmtpd.smtp import SMTP

from app.catcher import page
from app.catcher.events import LARGEST, CaughtEvents
from app.catcher.mailbox import CaughtMails

HOST = "127.0.0.1"
WEBHOOK, WEBHOOKS = "webhook", "webhooks"
_POLICY = b"default-src 'none'; style-src 'self'"
Message = MutableMapping[str, Any]


async def catch(port: int, smtp_port: int, say: Callable[[str], None]) -> None:
    """Until it is cancelled. Raises OSError for a port that is taken."""
    caught = CaughtMails()
    loop = asyncio.get_running_loop()
    smtp = await loop.create_server(lambda: SMTP(caught, hostname="catcher"), HOST, smtp_port)
    async with smtp:
        config = uvicorn.Config(application(caught), host=HOST, port=port, log_config=None, lifespan="off")
        say(f"The mails are at http://{HOST}:{port}/ and come in at smtp://{HOST}:{smtp_port}?starttls=none")
        await uvicorn.Server(config).serve()


def application(caught: CaughtMails) -> Callable[..., Awaitable[None]]:
    """An ASGI application: the list at `/`, one mail at `/NUMBER`;
    events are posted to `/webhook` and shown at `/webhooks`."""

    events = CaughtEvents()

    async def answer(
        scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        path = scope["path"].removeprefix("/")
        if path == WEBHOOK and scope["method"] == "POST":
            events.take(
                {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}, await _body(receive)
            )
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        status, kind, body = _answered(caught, events, path)
        headers = [(b"content-type", kind), (b"content-security-policy", _POLICY), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode()})

    return answer


async def _body(receive: Callable[[], Awaitable[Message]]) -> bytes:
    """Of what is longer than any event, the beginning."""
    body, more = b"", True
    while more and len(body) < LARGEST:
        part = await receive()
        body, more = body + part.get("body", b""), part.get("more_body", False)
    return body[:LARGEST]


def _answered(caught: CaughtMails, events: CaughtEvents, path: str) -> tuple[int, bytes, str]:
    if path == "style.css":
        return 200, b"text/css; charset=utf-8", page.STYLE
    html = b"text/html; charset=utf-8"
    if path == WEBHOOKS:
        return 200, html, page.draw_events(events)
    if not path:
        return 200, html, page.draw_list(caught)
    found = caught.find(int(path)) if path.isascii() and path.isdigit() and len(path) < 10 else None  # noqa: PLR2004 - a number
    return (200, html, page.draw_mail(found)) if found else (404, b"text/plain", "There is no such mail.\n")
