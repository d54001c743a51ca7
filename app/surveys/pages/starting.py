"""`/surveys/start`: where a new survey begins: with nothing, a starter, or a file. Also `/surveys/import` and
`/surveys/file/<uid>`."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from litestar import Response, get, post
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.errors import Invalid
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import content, files
from app.surveys.authoring.ceilings import ceiling_of, refuse_above
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.starters import STARTERS
from app.surveys.pages.acts_allowed import limits
from app.surveys.pages.addresses import uid_of
from app.surveys.words import ENFORCEMENTS
from app.web.context import Context
from app.web.guards import Requires
from app.web.help import slug
from app.web.pages import done, page

AUTHOR = Requires("surveys.author", module="surveys")
SEE = Requires("surveys.view", module="surveys")


@get("/surveys/start", guards=[AUTHOR])
async def start(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _show(ctx, await ceiling_of(ctx.db))


@post("/surveys/import", guards=[AUTHOR], status_code=200)
async def import_file(ctx: NamedDependency[Context]) -> Response[Any]:
    """A draft from a file, which may come from any survey."""
    ceiling = await ceiling_of(ctx.db)
    try:
        definition = files.read(await _uploaded(ctx))
        uid = await authoring.create(ctx.db, ctx.actor, definition, ceiling)
    except Invalid as refused:
        return await _show(ctx, ceiling, refused=refused)
    lost = _lost(definition)
    answer = f"Saved as a draft. Taken out: {', '.join(lost)}." if lost else "Saved as a draft."
    return await done(ctx, f"/surveys/edit/{uid}", answer, level="warning" if lost else "success")


@get("/surveys/file/{uid:str}", guards=[SEE])
async def file(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[bytes]:
    """A file that *Import* and the commands can read."""
    stored = await authoring.load(ctx.db, uid_of(uid))
    told = msgspec.json.format(msgspec.json.encode(files.export(stored, datetime.now(UTC))), indent=2)
    title = slug(stored.definition.title).encode("ascii", "ignore").decode().strip("-")[:60]
    name = f"survey-{title}-v{stored.version}.json".replace("--", "-")
    return Response(
        told, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


async def _uploaded(ctx: Context) -> bytes:
    """Raises Invalid when no file was chosen."""
    upload = (await ctx.form()).get("file")
    data = await upload.read() if isinstance(upload, UploadFile) else b""
    if not data:  # When no file is chosen, a browser sends one without a name.
        chosen = isinstance(upload, UploadFile) and upload.filename
        raise Invalid("The file is empty." if chosen else "Choose a file first.")
    return data


async def _show(ctx: Context, ceiling: str, *, refused: Invalid | None = None) -> Response[Any]:
    refuse_above(ceiling)
    within = {key: one for key, one in STARTERS.items() if not limits(ceiling, one.definition.enforcement)}
    return await page(
        ctx,
        "surveys/start.html",
        status=refused.status if refused else 200,
        starters=within,
        enforcements=ENFORCEMENTS,
        refused=refused.message if refused else "",
    )


def _lost(definition: Definition) -> list[str]:
    """Which markup of the file a survey does not keep."""
    texts = (definition.message, definition.closing_html)
    return [one for text in texts if not content.too_much_to_read(text) for one in content.sanitise(text).stripped]


ROUTES = [start, import_file, file]
