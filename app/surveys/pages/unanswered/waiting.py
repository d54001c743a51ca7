"""`/surveys/waiting/<uid>`: who is asked a survey and has not answered its version. Answers: responses."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Select, and_, func, literal, select

from app.accounts.models import Tenant, User
from app.db.searching import contains
from app.host.models import Employee
from app.mail import outbox
from app.surveys.authoring import audience
from app.surveys.authoring.stored import Stored, load
from app.surveys.models import PromptState
from app.surveys.pages.addresses import uid_of
from app.surveys.reminding import waiting
from app.surveys.words import Names
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec
from app.web.pages import page

SEE = Requires("surveys.view", module="surveys")
# An account may be linked to several people of the payroll, such as two jobs; the first department is shown.
DEPARTMENT = (
    select(func.min(Employee.department))
    .where(Employee.user_id == User.id, Employee.deleted_at.is_(None))
    .correlate(User)
    .scalar_subquery()
)


@get("/surveys/waiting/{uid:str}", guards=[SEE])
async def index(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    stored = await load(ctx.db, uid_of(uid))
    names = await audience.names(ctx.db)
    spec, base = spec_of(ctx, stored, names), people_of(ctx, stored)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, base, kind)
    view = await lists.load(ctx, spec, base)
    return await page(
        ctx,
        "surveys/waiting.html",
        fragment="list",
        view=view,
        stored=stored,
        names=names,
        mails=await waiting.counts(ctx.db, stored.id, stored.version),
        mail_is_on=outbox.is_on(ctx.parts.settings),
        may_drop=ctx.may("surveys.publish"),
        is_asked=waiting.can_be_answered(stored, datetime.now(UTC)),
    )


def _may_remind(ctx: Context, stored: Stored) -> bool:
    return waiting.can_be_answered(stored, datetime.now(UTC)) and ctx.may("surveys.publish")


def people_of(ctx: Context, stored: Stored) -> Select[Any]:
    shown = and_(
        PromptState.user_id == User.id, PromptState.survey_id == stored.id, PromptState.version == stored.version
    )
    return (
        select(
            User.id,
            User.name,
            User.email,
            User.type,
            User.workspace,
            func.coalesce(Tenant.name, User.workspace).label("workspace_name"),
            DEPARTMENT.label("department"),
            PromptState.impressions,
            PromptState.last_shown_at,
            PromptState.snoozed_until,
        )
        .outerjoin(Tenant, Tenant.key == User.workspace)
        .outerjoin(PromptState, shown)
        .where(literal(stored.status != "draft"), *waiting.unanswered(ctx.workspace, stored))
    )


def spec_of(ctx: Context, stored: Stored, names: Names) -> ListSpec:
    """The list of one survey: it has its address and its words."""
    on_platform = ctx.on_platform
    columns = (
        Column("name", "Name", lambda row: row.name, User.name, titles=True),
        Column("email", "E-mail", lambda row: row.email, User.email, shown=False),
        Column("department", "Department", lambda row: row.department, DEPARTMENT),
        Column("type", "Type", lambda row: names.of_types([row.type]), User.type),
        Column("workspace", "Workspace", lambda row: row.workspace, User.workspace, shown=on_platform),
        Column("impressions", "Shown", lambda row: row.impressions or 0, PromptState.impressions, numeric=True),
        Column("last_shown", "Last shown", lambda row: row.last_shown_at, PromptState.last_shown_at),
        Column("snoozed", "Asked for later", lambda row: row.snoozed_until, PromptState.snoozed_until),
        Column("actions", "", lambda _: None),
    )
    asked = stored.definition.user_types or tuple(names.types)
    filters = (
        Filter("q", "Search", contains(User.name, User.email), placeholder="Name or e-mail"),
        Filter("department", "Department", lambda text: text == DEPARTMENT),
        Filter(
            "type", "Type", lambda key: User.type == key, kind="select",
            options={key: names.of_types([key]) for key in asked},
        ),
        Filter("unseen", "Never shown to them", lambda _: PromptState.first_shown_at.is_(None), kind="check"),
    )  # fmt: skip
    return ListSpec(
        name="survey-waiting",
        label="people",
        url=f"/surveys/waiting/{stored.uid}",
        columns=columns,
        filters=filters,
        key=User.id,
        sort="name",  # By an index: a department is looked up for each person.
        empty=_empty(stored),
        bulk_url=f"/surveys/waiting/{stored.uid}/remind",
        bulk=(BulkAction("remind", "Remind", "send"),) if _may_remind(ctx, stored) else (),
    )


def _empty(stored: Stored) -> Empty:
    if stored.status == "draft":
        text = "It is a draft: people are asked once it is published."
        return Empty("users", "No person is asked yet", text, f"/surveys/view/{stored.uid}", "Open the survey")
    return Empty("circle-check", "Everybody has answered", "No person of its audience is left.")


ROUTES = [index]
