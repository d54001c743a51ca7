"""The forms of the App Library, add and edit, and the icons of its apps."""

import base64
from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Row, select

from app.db.locks import hold
from app.db.session import PLATFORM
from app.errors import Invalid, NotFound
from app.host.applications import applications, icons
from app.host.applications.application_words import PLATFORMS
from app.host.applications.applications import KEPT, LONGEST, RATEABLE, ApplicationDetails
from app.host.applications.icons import Icon
from app.host.models import Application
from app.host.pages.apps import MANAGES, app_of
from app.web import edits
from app.web.context import Context
from app.web.fields import Choices, File, Flag, Text
from app.web.forms import Bound, Form
from app.web.guards import public
from app.web.pages import done, page, saved

FORM = Form(
    Text("name", "Name", required=True, longest=LONGEST["name"]),
    Choices(
        "platforms",
        "Platforms",
        required=True,
        options=PLATFORMS,
        help="One or more. A rating names one of them.",
    ),
    Text(
        "description",
        "Description",
        longest=LONGEST["description"],
        lines=3,
        help="For the people who look after the library.",
    ),
    Flag(
        "admin_restricted",
        "Restricted to administrators",
        help="A restricted app accepts no ratings, and mobile apps do not list it, published or not.",
    ),
    File(
        "icon",
        "Icon",
        help=f"PNG, JPEG or WebP, at most {icons.LARGEST // 1024} KiB; square, such as 256 × 256. Anybody who has its address can see the icon of a"
        " published app.",
    ),
    Flag("remove_icon", "Take the icon away"),
)


@get("/apps/add", guards=[MANAGES])
async def add_form(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _edit_page(ctx, FORM.fill(), None)


@post("/apps/add", guards=[MANAGES], status_code=200)
async def add(ctx: NamedDependency[Context]) -> Response[Any]:
    form = FORM.read(await ctx.form())
    icon = await _sent_icon(ctx, form)
    if form.ok:
        try:
            app_id = await applications.add(ctx.db, ctx.actor, _details(form, icon))
        except Invalid as refused:
            form.absorb(refused)
        else:
            answer = f"{form['name']} was added as a draft. Publish it when it may be rated."
            return await done(ctx, f"/apps/{app_id}", answer)
    return await _edit_page(ctx, form, None, icon, status=422)


@get("/apps/{app_id:int}/edit", guards=[MANAGES])
async def edit_form(ctx: NamedDependency[Context], app_id: FromPath[int]) -> Response[Any]:
    app = await app_of(ctx, app_id)
    facts = _facts(await _icon_of(ctx, app_id))
    return await _edit_page(ctx, edits.opened(ctx, FORM, {**app._mapping}, facts), app)  # noqa: SLF001 - public in SQLAlchemy


@post("/apps/{app_id:int}/edit", guards=[MANAGES], status_code=200)
async def edit(ctx: NamedDependency[Context], app_id: FromPath[int]) -> Response[Any]:
    await hold(ctx.db, Application.id == app_id)
    app, now = await app_of(ctx, app_id), await _icon_of(ctx, app_id)
    form = await edits.sent(ctx, FORM, {**app._mapping}, _facts(now), about=("application", app_id))  # noqa: SLF001 - as above
    icon = await _sent_icon(ctx, form)
    if form.ok:
        kept = None if form["remove_icon"] else now
        try:
            changed = await applications.edit(ctx.db, ctx.actor, app_id, _details(form, icon or kept))
        except Invalid as refused:
            form.absorb(refused)
        else:
            return await saved(ctx, f"/apps/{app_id}", form["name"], changed=changed)
    return await _edit_page(ctx, form, app, icon, status=form.status)


@get("/apps/icon/{uid:uuid}", guards=[public])
async def show_icon(ctx: NamedDependency[Context], uid: FromPath[UUID]) -> Response[bytes]:
    """For mobile apps, which have no session: the icon of an app that they list. Other icons are shown only to people
    who manage the library."""
    manages = ctx.may("apps.manage") and ctx.on_platform
    asked = select(Application.icon, Application.icon_type, RATEABLE.label("rateable"))
    async with ctx.inside(PLATFORM) as db:
        row = (await db.execute(asked.where(Application.uid == uid, KEPT))).one_or_none()
    if row is None or row.icon is None or not (row.rateable or manages):
        raise NotFound("There is no icon.")
    icon = Icon(row.icon_type, row.icon)
    tag = f'"{icon.digest}"'
    # Browsers keep it and revalidate it each time: a new icon shows at once, an unchanged one costs no bytes.
    headers = {"ETag": tag, "Cache-Control": f"{'public' if row.rateable else 'private'}, no-cache"}
    if _knows(ctx, tag):
        return Response(b"", status_code=304, media_type=icon.type, headers=headers)
    return Response(icon.data, media_type=icon.type, headers=headers)


def _knows(ctx: Context, tag: str) -> bool:
    told = ctx.request.headers.get("if-none-match", "")
    return told.strip() == "*" or tag in {one.strip().removeprefix("W/") for one in told.split(",")}


async def _sent_icon(ctx: Context, form: Bound) -> Icon | None:
    """The picture that was chosen now, or with this form's last try:
    a browser forgets a chosen file when a form comes back."""
    posted = await ctx.form()
    upload = posted.get("icon")
    data = await upload.read() if isinstance(upload, UploadFile) else b""
    try:
        data = data or base64.b64decode(str(posted.get("icon_kept", "")), validate=True)
        return icons.read(data) if data else None
    except ValueError:
        form.refuse("icon", "Choose the picture again.")
    except Invalid as refused:
        form.absorb(refused)
    return None


def _facts(icon: Icon | None) -> dict[str, str]:
    """What the form was made from, besides its fields."""
    return {"Icon": str(icon) if icon else "none"}


async def _icon_of(ctx: Context, app_id: int) -> Icon | None:
    asked = select(Application.icon_type, Application.icon).where(Application.id == app_id)
    kind, data = (await ctx.db.execute(asked)).one()
    return Icon(kind, data) if kind and data else None


def _details(form: Bound, icon: Icon | None) -> ApplicationDetails:
    return ApplicationDetails(
        form["name"], tuple(form["platforms"]), form["description"], form["admin_restricted"], icon
    )


async def _edit_page(
    ctx: Context, form: Bound, app: Row[Any] | None, icon: Icon | None = None, *, status: int = 200
) -> Response[str]:
    kept = base64.b64encode(icon.data).decode() if icon else ""
    picture = f"data:{icon.type};base64,{kept}" if icon else f"/apps/icon/{app.uid}" if app and app.icon_type else ""
    return await page(
        ctx,
        "host/apps_edit.html",
        fragment="drawer",
        status=status,
        form=form,
        app=app,
        kept=kept,
        picture=picture,
        accepted=icons.ACCEPTED,
    )


ROUTES = [add_form, add, edit_form, edit, show_icon]
