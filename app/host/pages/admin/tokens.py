"""`/admin/tokens`: every API token of the workspace: revoking tokens, and making one for another person. A person's own
tokens: account."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect
from sqlalchemy import Select, case, func, select

from app.accounts import administrators, tokens
from app.accounts.models import ApiToken, User
from app.accounts.tokens import SCOPES, CreatedToken
from app.counting import count
from app.db.among import among
from app.db.searching import contains
from app.errors import Conflict, Invalid, NotFound
from app.web import exports, lists, once
from app.web.bulk import act_on_many, action_of, ask_first, chosen_ids
from app.web.context import Context
from app.web.fields import Choice, Choices, Email, Text
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, Query
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length, each
from app.web.pages import done, go, page, shown_once
from app.wording.marked import joined, marked, sentence, worded

MAY = Requires("admin.tokens")
STATES = {
    "active": marked("Active"),
    "expired": marked("Expired"),
    "revoked": marked("Revoked"),
    "idle": marked("Owner deactivated"),
}
STATE: Any = case(
    (ApiToken.revoked_at.is_not(None), "revoked"),
    (ApiToken.expires_at <= func.now(), "expired"),
    (~User.active, "idle"),
    else_="active",
)
_COLUMNS: tuple[Any, ...] = (
    ApiToken.id,
    ApiToken.name,
    ApiToken.hint,
    ApiToken.scopes,
    ApiToken.made_by_id,
    ApiToken.made_by,
    ApiToken.created_at,
    ApiToken.last_used_at,
    ApiToken.expires_at,
    ApiToken.user_id,
    User.name.label("owner"),
    STATE.label("state"),
)
BASE = select(*_COLUMNS).join(User, User.id == ApiToken.user_id)
SPEC = ListSpec(
    name="tokens",
    label="tokens",
    url="/admin/tokens",
    key=ApiToken.id,
    sort="-created_at",
    columns=(
        Column("name", "Name", lambda row: row.name, ApiToken.name),
        Column("owner", "Owner", lambda row: row.owner, User.name),
        Column("scopes", "Scopes", lambda row: row.scopes),
        Column("hint", "Ends in", lambda row: row.hint, hint="The last four characters, to tell tokens apart"),
        Column("state", "State", lambda row: row.state, STATE),
        Column("last_used_at", "Last used", lambda row: row.last_used_at, ApiToken.last_used_at),
        Column("expires_at", "Expires", lambda row: row.expires_at, ApiToken.expires_at),
        Column("created_at", "Made", lambda row: row.created_at, ApiToken.created_at),
        Column("made_by", "Made by", lambda row: row.made_by, ApiToken.made_by),
        Column("actions", "", lambda _: None),
    ),
    filters=(
        Filter("q", "Search", contains(ApiToken.name, User.name, User.email), placeholder="Name or owner"),
        Filter("state", "State", lambda value: value == STATE, kind="select", options=STATES),
        Filter(
            "scope",
            "Scope",
            lambda value: ApiToken.scopes.contains([value]),
            kind="select",
            options={name: name for name in SCOPES},
        ),
    ),
    empty=Empty(
        "key",
        "No API tokens",
        "Programs that read the time clock, and mobile apps, sign in with a token.",
        "/admin/tokens/new",
        "Make a token",
    ),
    bulk_url="/admin/tokens/bulk",
    bulk=(BulkAction("revoke", "Revoke", "ban", danger=True),),
)
LIVES = {
    "30": marked("30 days"),
    "90": marked("90 days"),
    "365": marked("A year"),
    "never": marked("Never: until it is revoked"),
}
NAME = Text(
    "name",
    marked("Name"),
    required=True,
    longest=tokens.LONGEST_NAME,
    help=marked("What will use it, so that you recognise it in the list."),
)
SCOPE = Choices("scopes", marked("Scopes"), required=True)
LIFE = Choice("life", marked("Expires after"), required=True, options=LIVES)
REVOKED = marked("The token was revoked.")
OWNER = Email("email", "E-mail of its owner", required=True, help="It acts as this person and may never do more.")


@get("/admin/tokens", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    base = _base(ctx)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, base, kind)
    view = await lists.load(ctx, SPEC, base)
    now = datetime.now(UTC)
    return await page(ctx, "host/admin/tokens.html", fragment="list", view=view, states=STATES, now=now)


@get("/admin/tokens/new", guards=[MAY])
async def new(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _new_page(ctx, form_for(ctx, OWNER).fill({"life": "90"}))


@post("/admin/tokens/new", guards=[MAY], status_code=200)
async def make(ctx: NamedDependency[Context]) -> Response[Any]:
    form = form_for(ctx, OWNER).read(await ctx.form())
    if not form.ok:
        return await _new_page(ctx, form, status=422)
    try:
        owner_id = await tokens.user_with_email(ctx.db, form["email"])
        await administrators.check_reach(ctx.db, ctx.user.permissions, owner_id)
        made = await tokens.create(
            ctx.db, ctx.actor, owner_id, form["scopes"], name=form["name"], days=days_of(form["life"])
        )
    except NotFound as missing:
        form.refuse("email", missing.message)
        return await _new_page(ctx, form, status=422)
    except Invalid as refused:
        form.absorb(refused)
        return await _new_page(ctx, form, status=422)
    return await made_next(ctx, "/admin/tokens/made", made, form["name"])


@get("/admin/tokens/made", guards=[MAY])
async def show_made(ctx: NamedDependency[Context]) -> Response[Any]:
    return await made_page(ctx, home="/admin/tokens")


@get("/admin/tokens/{token_id:int}/revoke", guards=[MAY])
async def ask(ctx: NamedDependency[Context], token_id: FromPath[int]) -> Response[Any]:
    return await ask_to_revoke(ctx, token_id, cancel_url="/admin/tokens")


@post("/admin/tokens/{token_id:int}/revoke", guards=[MAY], status_code=200)
async def revoke(ctx: NamedDependency[Context], token_id: FromPath[int]) -> Response[Any]:
    await tokens.revoke(ctx.db, ctx.actor, token_id)
    return await done(ctx, "/admin/tokens", REVOKED)


async def _rows(ctx: Context, _: Query, __: str) -> BulkRows:
    return BulkRows(SPEC, _base(ctx).where(ApiToken.revoked_at.is_(None)))


LONG = {
    "revoke": LongBulk(
        "tokens.revoke",
        "Revoking API tokens",
        "revoked",
        ("token", "tokens"),
        "admin.tokens",
        _rows,
        each(tokens.revoke_several),
    )
}


@post("/admin/tokens/bulk", guards=[MAY], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    await action_of(ctx, ("revoke",))

    async def ask_of_many(which: str) -> dict[str, Any]:
        consequence = "Programs that use them are refused at once. This can't be undone."
        return {"verb": "Revoke", "what": which, "consequence": consequence}

    if answer := await at_length(ctx, LONG["revoke"], "/admin/tokens", ask_of_many):
        return answer
    ids = await chosen_ids(ctx, SPEC, _base(ctx).where(ApiToken.revoked_at.is_(None)))

    async def ask() -> dict[str, Any]:
        latest = await ctx.db.scalar(select(func.max(ApiToken.last_used_at)).where(among(ApiToken.id, ids)))
        used = f"The latest use was on {(await ctx.zone()).day(latest)}." if latest else "They were never used."
        consequence = f"Programs that use them are refused at once. This can't be undone. {used}"
        return {"verb": "Revoke", "what": count(len(ids), "token", "tokens"), "consequence": consequence}

    async def revoke_them() -> str:
        revoked = await tokens.revoke_several(ctx.db, ctx.actor, ids)
        return f"{count(len(revoked), 'token was', 'tokens were')} revoked."

    none = Conflict("The selected tokens can't be revoked: all of them were revoked before.")
    return await act_on_many(ctx, len(ids), url="/admin/tokens", none=none, ask=ask, do=revoke_them)


async def ask_to_revoke(ctx: Context, token_id: int, *, cancel_url: str, owner_id: int | None = None) -> Response[str]:
    """The question before a token is revoked; with `owner_id` only for a token of that person. Raises NotFound."""
    statement = _base(ctx).where(ApiToken.id == token_id)
    if owner_id is not None:
        statement = statement.where(ApiToken.user_id == owner_id)
    token = (await ctx.db.execute(statement)).one_or_none()
    if token is None:
        raise NotFound(tokens.NO_SUCH_TOKEN)
    used = (
        worded("It was last used on {day}.", day=(await ctx.zone()).day(token.last_used_at))
        if token.last_used_at
        else marked("It was never used.")
    )
    return await ask_first(
        ctx,
        question=worded("Revoke the token {name} of {owner}?", name=token.name, owner=token.owner),
        consequence=joined(marked("Programs that use it are refused at once. This can't be undone."), used),
        submit=marked("Revoke the token"),
        cancel_url=cancel_url,
    )


async def made_next(ctx: Context, path: str, made: CreatedToken, name: str) -> Redirect:
    """On to the page with the token: `path` answers with `made_page`."""
    expires = made.expires_at and made.expires_at.isoformat()
    values = {"text": made.text, "name": name, "scopes": made.scopes, "expires_at": expires}
    return await once.show_next(ctx, path, marked("The token was made."), **values)


async def made_page(ctx: Context, *, home: str) -> Response[Any]:
    """The token for the only time: only its hash is stored."""
    if (made := once.taken(ctx)) is None:
        return go(home)
    expires = made["expires_at"] and datetime.fromisoformat(made["expires_at"])
    return shown_once(await page(ctx, "host/admin/token_made.html", home=home, **made | {"expires_at": expires}))


def form_for(ctx: Context, *first: Email) -> Form:
    """The form of a new token, with the scopes that are of use to the person who fills it in."""
    offered = tokens.offered(ctx.user.permissions, on_platform=ctx.on_platform)
    options = {
        name: worded(
            "{label} ({name}). {explanation}",
            label=sentence(scope.label),
            name=name,
            explanation=sentence(scope.explanation),
        )
        for name, scope in offered.items()
    }
    return Form(NAME, *first, replace(SCOPE, options=options), LIFE)


def days_of(life: str) -> int | None:
    return None if life == "never" else int(life)


def _base(ctx: Context) -> Select[Any]:
    return BASE.where(User.workspace == ctx.workspace)


async def _new_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(
        ctx, "host/admin/token_new.html", fragment="drawer", status=status, form=form, home="/admin/tokens"
    )


ROUTES = [index, new, make, show_made, bulk, ask, revoke]
