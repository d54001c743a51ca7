"""`/admin/policies`: what is on in this workspace. What each switch stops: app.web.guards, app.api.tokens, the surveys."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.accounts import audit, policies
from app.db.held import hold_name
from app.web import edits
from app.web.context import Context
from app.web.forms import Bound, Flag, Form, Number
from app.web.guards import Requires
from app.web.pages import done, page

MAY = Requires("admin.policies")
LONGEST_GAP_HOURS = 24 * 365
SECTIONS = (
    ("Modules", "Off: its menu entries and pages go, and its API answers module_unavailable. Nothing is deleted.", 2),
    ("End-user API", "What mobile apps may use. Off: the API answers module_unavailable.", 4),
    ("Prompts", "How surveys come up for whoever is signed in.", 2),
)
FORM = Form(
    Flag("module_clock", "Time clock", help="The nine pages, the sync and the integration API."),
    Flag("module_surveys", "Surveys", help="Survey pages, prompts and the end-user API."),
    Flag("me_apps", "List of apps", help="GET /v1/api/me/apps"),
    Flag("me_app_rating", "Rating an app", help="POST /v1/api/me/app-rating"),
    Flag("me_surveys", "Mobile prompts", help="GET /v1/api/me/surveys"),
    Flag("me_surveys_respond", "Answering", help="POST /v1/api/me/surveys/respond"),
    Flag("web_prompts", "Web prompts", help="Surveys come up in the browser, once per sign-in."),
    Number(
        "optional_gap_hours",
        "Pause between two optional surveys",
        required=True,
        least=0,
        most=LONGEST_GAP_HOURS,
        unit="hours",
        help="0 is no pause. Required surveys neither wait for it nor start it.",
    ),
)


@get("/admin/policies", guards=[MAY])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _policies_page(ctx, edits.opened(ctx, FORM, await policies.read(ctx.db, ctx.workspace)))


@post("/admin/policies", guards=[MAY], status_code=200)
async def save(ctx: NamedDependency[Context]) -> Response[Any]:
    await hold_name(ctx.db, "policies")
    held = await policies.read(ctx.db, ctx.workspace)
    form = await edits.sent(ctx, FORM, held, about=("policy", ctx.workspace))
    if not form.ok:
        return await _policies_page(ctx, form, status=form.status)
    changed = {name: value for name, value in form.values.items() if held[name] != value}
    if not changed:
        return await done(ctx, "/admin/policies", "Nothing was changed.", level="info")
    await policies.write(ctx.db, ctx.workspace, changed)
    before = {name: held[name] for name in changed}
    await audit.record(ctx.db, ctx.actor, "policy.edit", "policy", ctx.workspace, before=before, after=changed)
    return await done(ctx, "/admin/policies", "The policies were saved. They apply from now on.")


async def _policies_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    names = iter(FORM.fields)
    sections = [(title, text, [next(names) for _ in range(number)]) for title, text, number in SECTIONS]
    return await page(ctx, "host/admin/policies.html", status=status, form=form, sections=sections)


ROUTES = [show, save]
