"""`/admin/policies`: what is switched on in this workspace. The switches act in app.web.guards, app.api.tokens and the
surveys."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.accounts import audit, policies
from app.db.locks import hold_name
from app.problems import looking
from app.registry import PolicySwitch
from app.web import edits
from app.web.context import Context
from app.web.fields import Field, Flag, Number
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.pages import done, page

MAY = Requires("admin.policies")
# The sections, by the word with which a policy names one.
SECTIONS = {
    "modules": (
        "Modules",
        "Off: its menu entries and pages disappear, and its API answers module_unavailable. Nothing is deleted.",
    ),
    "api": ("End-user API", "What mobile apps may use. Off: the API answers module_unavailable."),
    "prompts": ("Prompts", "How surveys come up for the person who is signed in."),
}


def _field(policy: PolicySwitch) -> Field:
    if isinstance(policy.default, bool):
        return Flag(policy.name, policy.label, help=policy.help)
    return Number(
        policy.name, policy.label, required=True, least=0, most=policy.most, unit=policy.unit, help=policy.help
    )


FORM = Form(*(_field(one) for one in policies.POLICIES))


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
    await looking.look_soon(ctx.db)
    before = {name: held[name] for name in changed}
    await audit.record(ctx.db, ctx.actor, "policy.edit", "policy", ctx.workspace, before=before, after=changed)
    return await done(ctx, "/admin/policies", "The policies were saved. They apply from now on.")


async def _policies_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    sections = [
        (*words, [one.name for one in policies.POLICIES if one.section == section])
        for section, words in SECTIONS.items()
    ]
    return await page(ctx, "host/admin/policies.html", status=status, form=form, sections=sections)


ROUTES = [show, save]
