"""`/clock_settings`: the connection and its test, and every module setting. The form of the connection: connecting.

Each form is saved by itself. With script it comes again in its place, so that what is typed in the others stays.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.enums import MediaType
from litestar.params import FromPath

from app.clock import zones
from app.clock.connection import saved as connection
from app.clock.importing import preview
from app.clock.importing.preview import Preview
from app.clock.outcomes import outcome_label
from app.clock.pages import connecting, health, rule_drawings
from app.clock.pages.setting_fields import ABOUT, FLAGS, FORM, SECTIONS, shown
from app.clock.punches import changes
from app.clock.punches.day_counts import count_by_day
from app.clock.settings import JUDGED_BY, ClockSettings, checked, hold_settings, read_settings, write_settings
from app.errors import Invalid, NotFound
from app.web import edits
from app.web.context import Context
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.pages import done, page
from app.wording import zone_names

MAY = Requires("clock.settings", module="clock")
URL = "/clock_settings"
# A section comes again also after a question in the dialog.
IN_ITS_PLACE = {"HX-Reswap": "outerHTML", "HX-Trigger": "muster:close"}
IN_THE_DIALOG = {"HX-Retarget": "#dialog", "HX-Reswap": "innerHTML"}


@get(URL, guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _show(ctx)


@post(f"{URL}/connection", guards=[MAY], status_code=200)
async def save_connection(ctx: NamedDependency[Context]) -> Response[Any]:
    form = await connecting.sent(ctx)
    if not await connecting.save(ctx, form):
        return await _show(ctx, part="connection", form=form, status=form.status)
    message = "The connection was saved. Test it now."
    if ctx.wants_fragment:
        return await _show(ctx, part="connection", message=message)
    return await done(ctx, f"{URL}#test", message)


@post(f"{URL}/connection/test", guards=[MAY], status_code=200)
async def test_connection(ctx: NamedDependency[Context]) -> Response[Any]:
    """With script the steps come live; without, the page comes when the last one is done."""
    await connection.required(ctx.db)
    if ctx.wants_fragment:
        then = str((await ctx.form()).get("then", ""))
        live = {"ticket": connecting.ticket(ctx), "then": "setup" if then == "setup" else ""}
        test = connecting.drawn([], running=True)
        return await page(ctx, "clock/settings.html", fragment="test", live=live, test=test, then=live["then"])
    return await _show(ctx, test=connecting.drawn(await connecting.run_test(ctx), running=False))


@get(f"{URL}/connection/test/live", guards=[MAY])
async def live_test(ctx: NamedDependency[Context]) -> Response[Any]:
    if not connecting.check_ticket(ctx, ctx.request.query_params.get("ticket", "")):
        return Response(None, status_code=204, media_type=MediaType.TEXT)
    return connecting.live(ctx, ctx.request.query_params.get("then", ""))


@post(f"{URL}/sections/{{key:str}}", guards=[MAY], status_code=200)
async def save_section(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    """One section of the page; the settings of the others stay."""
    section = SECTIONS.get(key)
    if section is None:
        raise NotFound

    async def wrong(form: Bound) -> Response[Any]:
        return await _show(ctx, part=key, form=form, status=form.status)

    message = f"Saved: {section.title}."
    if answer := await _save(ctx, section.form, wrong, key):
        return answer
    if ctx.wants_fragment:
        return await _show(ctx, part=key, message=message)
    return await done(ctx, f"{URL}#{key}", message)


@post(URL, guards=[MAY], status_code=200)
async def save_settings(ctx: NamedDependency[Context]) -> Response[Any]:
    """All settings at once, as programs sent them before the page had sections."""

    async def wrong(form: Bound) -> Response[Any]:
        return await edits.ask_again(ctx, form, "Settings", cancel_url=URL)

    return await _save(ctx, FORM, wrong) or await done(ctx, URL, "The settings were saved.")


async def _save(
    ctx: Context, fields: Form, wrong: Callable[[Bound], Awaitable[Response[Any]]], key: str = ""
) -> Response[Any] | None:
    """None when it was saved. Asks first where that would change punches of the last days, or remove some."""
    now = datetime.now(UTC)
    await hold_settings(ctx.db)
    before = await read_settings(ctx.db, now)
    form = await edits.sent(ctx, fields, shown(before), about=("clock_settings", 1))
    changes = _changes(form)
    try:
        after = checked(before, changes, today=await zones.local_today(ctx.db, now))
    except Invalid as refusal:
        return await wrong(_with_errors(form, refusal))
    if form.stale:
        return await wrong(form)
    if (await ctx.form()).get("confirmed") != "1" and (question := await _question(ctx, before, after, now)):
        kept = [(name, value) for name, value in changes.items() if name not in FLAGS or value != "false"]
        return await _ask(ctx, key, fields=[*kept, (edits.BASE, form.base)], **question)
    await write_settings(ctx.db, ctx.actor, changes, now)
    return None


async def _ask(ctx: Context, key: str, **question: Any) -> Response[Any]:
    """In the dialog, or as a page. Agreeing brings the section of `key` again, in its place."""
    return await page(
        ctx,
        "clock/settings_ask.html",
        fragment="dialog",
        headers=IN_THE_DIALOG if ctx.wants_fragment else None,
        action=ctx.request.url.path,
        leads_to=f"{URL}#{key}" if key else URL,
        hx_target=f"[aria-labelledby={key}]" if key and ctx.wants_fragment else None,
        **question,
    )


@post(f"{URL}/unlock", guards=[MAY], status_code=200)
async def unlock(ctx: NamedDependency[Context]) -> Response[Any]:
    await connection.unlock(ctx.db, ctx.actor, datetime.now(UTC))
    return await done(ctx, f"{URL}#test", "One more try with the saved password is allowed. Test the connection now.")


async def _show(
    ctx: Context,
    *,
    part: str = "",
    form: Bound | None = None,
    message: str = "",
    test: Mapping[str, Any] | None = None,
    status: int = 200,
) -> Response[Any]:
    """The whole page, as a POST leaves it; for htmx the `part` alone: "connection", or the key of a section. `form`:
    the form of that part, where it was not saved; `message`: what was done."""
    found = await connection.load(ctx.db)
    now = datetime.now(UTC)
    settings = await read_settings(ctx.db, now)
    forms = {key: edits.opened(ctx, one.form, shown(settings)) for key, one in SECTIONS.items()}
    forms |= {"connection": connecting.opened(ctx, found)} | ({part: form} if form else {})
    alone = part != "" and ctx.wants_fragment
    return await page(
        ctx,
        "clock/settings.html",
        fragment=("saved_connection" if part == "connection" else "saved_section") if alone else None,
        status=status,
        headers=IN_ITS_PLACE if alone and part in SECTIONS else None,
        connection=found,
        now=now,
        health=health.of(found, now),
        zones=zone_names.by_region(found.timezone if found else ""),
        connection_form=forms["connection"],
        section_forms=forms,
        sections=SECTIONS,
        drawings=rule_drawings.drawn(shown(settings)),
        rejudged=await changes.under_way(ctx.db),
        about=ABOUT,
        part=part,
        message=message,
        oob=alone,
        test=test,
        live=None,
        then="",
    )


def _changes(form: Bound) -> dict[str, str]:
    """Every setting of the form as text."""
    return {name: ("true" if form[name] else "false") if name in FLAGS else form.shown[name] for name in form.fields}


def _with_errors(form: Bound, refusal: Invalid) -> Bound:
    form.errors.clear()
    for detail in refusal.details:
        form.refuse(detail.field, f"{detail.message[:1].upper()}{detail.message[1:]}.")
    return form


def _rules_differ(before: ClockSettings, after: ClockSettings) -> bool:
    return any(getattr(before, name) != getattr(after, name) for name in JUDGED_BY)


async def _question(ctx: Context, before: ClockSettings, after: ClockSettings, now: datetime) -> dict[str, Any] | None:
    """The question before saving, with its numbers; None when none is needed."""
    found = await preview.preview(ctx.db, after, now) if _rules_differ(before, after) else None
    purged = await _purged(ctx, before, after, now)
    if found is None and not purged:
        return None
    return {
        "preview": found,
        "moves": _moves(found) if found else [],
        "purged": purged,
        "days": after.retain_transactions_days,
    }


async def _purged(ctx: Context, before: ClockSettings, after: ClockSettings, now: datetime) -> int:
    """Mirrored punches that a shorter retention would take."""
    today = await zones.local_today(ctx.db, now)
    days = after.retain_transactions_days
    if not days or (before.retain_transactions_days and days >= before.retain_transactions_days):
        return 0
    return (await count_by_day(ctx.db, days=(None, after.kept_from(today) - timedelta(days=1)), equal={})).total


def _moves(found: Preview) -> list[dict[str, Any]]:
    """Rows of the table: from which outcome to which, most first."""
    return [
        {
            "from": outcome_label(was),
            "to": outcome_label(then) if was != then else f"{outcome_label(then)}, in a record of other hours",
            "count": number,
        }
        for (was, then), number in found.moves.most_common()
    ]


ROUTES = [index, save_connection, test_connection, live_test, save_section, save_settings, unlock]
