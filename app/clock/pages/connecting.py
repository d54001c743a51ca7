"""The form of the connection and its test with live steps: shared by Settings and the first set-up,
which are routes of their own."""

import hmac
import time
from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from typing import Any

from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

from app.clock import failure_words
from app.clock.connection import saved as connection
from app.clock.connection.call_log import logging_to
from app.clock.connection.connection_form import ConnectionForm
from app.clock.models import Connection
from app.clock.profiles import PROFILES
from app.clock.punches.day_counts import count_by_day
from app.clock.remote import TestStep
from app.db.locks import hold_name
from app.errors import Conflict, Invalid, Refusal
from app.secrets import Secret
from app.web import edits
from app.web.context import Context
from app.web.fields import Choice, Flag, Password, Text
from app.web.forms import Bound, Form
from app.web.templating import render_fragment
from app.web.transport import streams

TICKET_S = 20
STEPS = {
    "resolve": "Find the address",
    "connect": "Connect",
    "tls": "Encrypt (TLS)",
    "sign_in": "Sign in",
    "list": "List one page",
}
FORM = Form(
    Text(
        "base_url",
        "Address",
        required=True,
        longest=300,
        autocomplete="url",
        help="Scheme, host and port, such as https://clock.example.org. Another address needs the password again.",
    ),
    Choice(
        "profile",
        "Kind of server",
        required=True,
        options={name: profile.title for name, profile in PROFILES.items()},
        help="Each kind of server has its own paths, field names and codes.",
    ),
    Text("username", "User name", required=True, longest=200),
    Password(
        "password",
        "Password",
        # Another one than Muster's own, which a browser would put here by itself.
        autocomplete="new-password",
        help="Kept encrypted and never shown. Leave it empty to keep the saved one.",
    ),
    Text("company", "Company", longest=200, help="Only for servers that several companies share."),
    Text("timezone", "Time zone", required=True, longest=64),
    Text(
        "overrides",
        "Other paths and parameter names",
        lines=4,
        longest=4000,
        help="One a line, such as paths.transactions = /iclock/api/transactions/ or params.page_size = limit.",
    ),
    Flag("moves_punches", "Yes, judge the mirrored punches again"),
)


def opened(ctx: Context, found: Connection | None) -> Bound:
    """The form as it is first shown; a password is never in it."""
    return edits.opened(ctx, FORM, _stored(found))


async def sent(ctx: Context) -> Bound:
    """The form as it was posted, compared with the connection that is saved now."""
    await hold_name(ctx.db, "connection")
    return await edits.sent(ctx, FORM, _stored(await connection.load(ctx.db)), about=("clock_connection", 1))


def _stored(found: Connection | None) -> dict[str, Any]:
    shown = ("base_url", "profile", "username", "company", "timezone")
    if found is None:
        return {**dict.fromkeys(shown), "profile": "cloud", "timezone": None, "overrides": ""}
    return {**{name: getattr(found, name) for name in shown}, "overrides": written(found.overrides)}


async def save(ctx: Context, form: Bound) -> bool:
    """Saves what was posted; False leaves the errors at the fields.
    What moves punches is asked about first, with the number."""
    if not form.ok:
        return False
    try:
        wanted = _wanted(form)
        if not form["moves_punches"] and await _asks_about_moving(ctx, form, wanted):
            return False
        await connection.save(ctx.db, ctx.parts.keys, ctx.actor, wanted, test_comes_first=True)
    except Invalid as refusal:
        form.absorb(refusal)
    return form.ok


async def _asks_about_moving(ctx: Context, form: Bound, wanted: ConnectionForm) -> bool:
    """Puts the question at the field that moves mirrored punches, if one does."""
    found = await connection.load(ctx.db)
    if found is None:
        return False
    moved = next((name for name in ("timezone", "profile") if getattr(found, name) != getattr(wanted, name)), None)
    number = (await count_by_day(ctx.db, days=(None, None), equal={})).total if moved else 0
    if not moved or not number:
        return False
    form.refuse(moved, f"This moves or reads again all {number:,} mirrored punches, and judges them again.")
    form.refuse("moves_punches", "Tick this to continue, and type the password again if you changed it.")
    return True


def _wanted(form: Bound) -> ConnectionForm:
    return ConnectionForm(
        base_url=form["base_url"],
        username=form["username"],
        profile=form["profile"],
        timezone=form["timezone"],
        password=Secret(form["password"]) if form["password"] else None,
        company=form["company"],
        overrides=_overrides(form["overrides"] or ""),
    )


def written(overrides: Any) -> str:
    return "\n".join(f"{name} = {value}" for name, value in overrides.items())


def _overrides(text: str) -> dict[str, str]:
    found = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals:
            raise Invalid.at("overrides", f"“{line}” has no “=”. Write name = value.")
        found[name.strip()] = value.strip()
    return found


async def run_test(ctx: Context) -> list[TestStep]:
    """All steps of the test, for a browser without script."""
    async with ctx.apart():
        return [step async for step in _test(ctx)]


async def _test(ctx: Context) -> AsyncIterator[TestStep]:
    """A refusal stands at the step where the test had come to."""
    log, at = logging_to(ctx.parts.database, ctx.workspace), "resolve"
    try:
        async for step in connection.test(ctx.parts, ctx.workspace, ctx.actor, log):
            at = step.name
            yield step
    except Refusal as refusal:
        yield TestStep(at, ok=False, duration_ms=0, sentence=refusal.message)


def drawn(steps: Sequence[TestStep], *, running: bool) -> dict[str, Any]:
    """What the block `test` of clock/settings.html shows: each step as done, with a warning, running, failed or not
    begun."""
    done = {step.name: step for step in steps}
    failed = next((step for step in steps if not step.ok), None)
    items: list[dict[str, str]] = []
    for name, title in STEPS.items():
        step = done.get(name)
        state = _state(step)
        if step is None and running and failed is None and not any(one["state"] == "current" for one in items):
            state = "current"
        text = "" if step is None else f"{step.duration_ms:,} ms · {step.sentence}"
        items.append({"title": title, "text": text, "state": state})
    return {
        "steps": items,
        "running": running,
        "failed": failed,
        "words": failure_words.words_of_test(failed.code) if failed else None,
        "ok": not running and failed is None,
    }


def _state(step: TestStep | None) -> str:
    if step is None:
        return "waiting"
    if not step.ok:
        return "failed"
    return "warning" if step.warns else "done"


def ticket(ctx: Context) -> str:
    """Proves that the live test was begun by a form of this session, not by a link somewhere;
    good for twenty seconds."""
    until = str(int(time.time()) + TICKET_S)
    return f"{until}.{_signature(ctx, until)}"


def check_ticket(ctx: Context, text: str) -> bool:
    """False when it was good but is too old: a browser that connects again must not test again. Raises Conflict."""
    until, _, signature = text.partition(".")
    if not hmac.compare_digest(signature.encode(), _signature(ctx, until).encode()):
        raise Conflict("Press “Test the connection” to start a test.")
    return time.time() < int(until)


def _signature(ctx: Context, until: str) -> str:
    key = ctx.parts.keys.derive("connection-test")
    return hmac.new(key, ctx.user.session_key + until.encode(), sha256).hexdigest()


def live(ctx: Context, then: str) -> ServerSentEvent:
    """The steps as they happen: each event `test` is the list so far; `end` is the last one."""

    async def events() -> AsyncIterator[ServerSentEventMessage]:
        steps: list[TestStep] = []
        yield ServerSentEventMessage(_fragment(ctx, drawn(steps, running=True), then), event="test")
        async for step in _test(ctx):
            steps.append(step)
            yield ServerSentEventMessage(_fragment(ctx, drawn(steps, running=True), then), event="test")
        yield ServerSentEventMessage(_fragment(ctx, drawn(steps, running=False), then), event="test")
        yield ServerSentEventMessage("over", event="end")

    return streams.live(ctx, events())


def _fragment(ctx: Context, test: dict[str, Any], then: str) -> str:
    return render_fragment("clock/settings.html", "steps", ctx=ctx, test=test, then=then)
