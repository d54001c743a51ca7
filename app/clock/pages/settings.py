"""`/clock_settings`: the connection and its test, and every module setting. The form of the connection: connecting."""

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


@get(URL, guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _show(ctx)


@post(f"{URL}/connection", guards=[MAY], status_code=200)
async def save_connection(ctx: NamedDependency[Context]) -> Response[Any]:
    form = await connecting.sent(ctx)
    if not await connecting.save(ctx, form):
        return await _show(ctx, connection_form=form, status=form.status)
    return await done(ctx, f"{URL}#test", "The connection was saved. Test it now.")


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
        return await _show(ctx, section=(key, form), status=form.status)

    return await _save(ctx, section.form, f"{URL}#{key}", f"Saved: {section.title}.", wrong)


@post(URL, guards=[MAY], status_code=200)
async def save_settings(ctx: NamedDependency[Context]) -> Response[Any]:
    """All settings at once, as programs sent them before the page had sections."""

    async def wrong(form: Bound) -> Response[Any]:
        return await edits.ask_again(ctx, form, "Settings", cancel_url=URL)

    return await _save(ctx, FORM, URL, "The settings were saved.", wrong)


async def _save(
    ctx: Context, fields: Form, leads_to: str, said: str, wrong: Callable[[Bound], Awaitable[Response[Any]]]
) -> Response[Any]:
    """Asks first where that would change punches of the last days, or remove some."""
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
        here = ctx.request.url.path
        return await page(
            ctx,
            "clock/settings_ask.html",
            fields=[*kept, (edits.BASE, form.base)],
            action=here,
            leads_to=leads_to,
            **question,
        )
    await write_settings(ctx.db, ctx.actor, changes, now)
    return await done(ctx, leads_to, said)


@post(f"{URL}/unlock", guards=[MAY], status_code=200)
async def unlock(ctx: NamedDependency[Context]) -> Response[Any]:
    await connection.unlock(ctx.db, ctx.actor, datetime.now(UTC))
    return await done(ctx, f"{URL}#test", "One more try with the saved password is allowed. Test the connection now.")


async def _show(
    ctx: Context,
    *,
    connection_form: Bound | None = None,
    section: tuple[str, Bound] | None = None,
    test: Mapping[str, Any] | None = None,
    status: int = 200,
) -> Response[Any]:
    """The whole page, as a POST leaves it; `section`: the one that was not saved, and its form."""
    found = await connection.load(ctx.db)
    now = datetime.now(UTC)
    settings = await read_settings(ctx.db, now)
    forms = {key: edits.opened(ctx, one.form, shown(settings)) for key, one in SECTIONS.items()}
    return await page(
        ctx,
        "clock/settings.html",
        status=status,
        connection=found,
        now=now,
        health=health.of(found, now),
        connection_form=connection_form or connecting.opened(ctx, found),
        zones=zone_names.by_region(found.timezone if found else ""),
        section_forms=forms | dict([section] if section else []),
        sections=SECTIONS,
        drawings=rule_drawings.drawn(shown(settings)),
        rejudged=await changes.under_way(ctx.db),
        about=ABOUT,
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
