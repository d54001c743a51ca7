"""Bulk acts of the list of users. Users who may do more than the acting person stay as they are,
and so does this person. One
account: users."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency
from sqlalchemy import Select, SQLColumnExpression, select

from app.accounts import accounts
from app.accounts.models import User
from app.counting import count
from app.errors import Conflict
from app.host.pages.admin.users import ACTS, MAY, base, offers, spec_of
from app.long_acts.acts import ItemOutcome
from app.long_acts.over_lists import SliceOutcome
from app.web.bulk import act_on_many, action_of, chosen_ids
from app.web.context import Context
from app.web.list_spec import Query
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length


@dataclass(frozen=True, slots=True)
class BulkUserAct:
    """An act of ACTS on many accounts. `changes`: the accounts that it can change;
    others of a selection stay as they are."""

    verb: Callable[..., Awaitable[list[int]]]
    changes: SQLColumnExpression[bool]
    past: str


BULK = {
    "deactivate": BulkUserAct(accounts.deactivate_several, User.active, "deactivated"),
    "activate": BulkUserAct(accounts.activate_several, ~User.active, "activated"),
}


def _long(action: str, doing: str) -> LongBulk:
    several = BULK[action]

    async def rows(ctx: Context, _: Query, __: str) -> BulkRows:
        return BulkRows(spec_of(*await offers(ctx)), base(ctx).where(several.changes, User.id != ctx.user.id))

    async def changes(ctx: Context, ids: Sequence[int], _: Mapping[str, Any]) -> SliceOutcome:
        able = await accounts.open_to(ctx.db, ctx.actor, ids, reach=ctx.user.permissions)
        changed = await several.verb(ctx.db, ctx.actor, sorted(able), reach=ctx.user.permissions)
        return SliceOutcome(len(changed), dict.fromkeys(sorted(set(ids) - able), ItemOutcome("beyond")))

    return LongBulk(
        f"users.{action}",
        doing,
        several.past,
        ("user", "users"),
        "admin.users",
        rows,
        changes,
        left={"beyond": "left, because the account may do more than who asked"},
        names=_names,
        page="/admin/users",
    )


def _names(ctx: Context) -> Select[*tuple[Any, ...]]:
    return select(User.id, User.name).where(User.workspace == ctx.workspace)


LONG = {
    "deactivate": _long("deactivate", "Deactivating users"),
    "activate": _long("activate", "Activating users"),
}


@post("/admin/users/bulk", guards=[MAY], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    action = await action_of(ctx, BULK)
    several = BULK[action]

    async def ask_of_many(who: str) -> dict[str, Any]:
        one = ACTS[action]
        consequence = f"{one.consequence} {accounts.NOT_ONESELF} Accounts that may do more than you stay as they are."
        return {"verb": one.submit, "what": who, "consequence": consequence, "danger": one.danger}

    if answer := await at_length(ctx, LONG[action], "/admin/users", ask_of_many):
        return answer
    chosen = await chosen_ids(ctx, spec_of(*await offers(ctx)), base(ctx).where(several.changes))
    able = await accounts.open_to(ctx.db, ctx.actor, chosen, reach=ctx.user.permissions)
    refused = _refused(ctx, set(chosen) - able)

    async def ask() -> dict[str, Any]:
        one = ACTS[action]
        who = count(len(able), "user", "users")
        return {"verb": one.submit, "what": who, "consequence": one.consequence + refused, "danger": one.danger}

    async def act_on_them() -> str:
        changed = await several.verb(ctx.db, ctx.actor, able, reach=ctx.user.permissions)
        return f"{count(len(changed), 'user was', 'users were')} {several.past}."

    none = Conflict(f"None of the selected users can be {several.past}.{refused}")
    return await act_on_many(ctx, len(able), url="/admin/users", none=none, ask=ask, do=act_on_them)


def _refused(ctx: Context, left: set[int]) -> str:
    """Why some stay as they are, as a sentence for each reason."""
    oneself = f" {accounts.NOT_ONESELF}" if ctx.user.id in left else ""
    beyond = len(left - {ctx.user.id})
    one, several = (
        "account may do more than you and stays as it is",
        "accounts may do more than you and stay as they are",
    )
    return oneself + (f" {count(beyond, f'selected {one}', f'selected {several}')}." if beyond else "")


ROUTES = [bulk]
