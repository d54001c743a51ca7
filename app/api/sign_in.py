"""`/v1/api/auth/token`: a mobile app signs in with e-mail and password, gets a token of scope `me`, and ends it."""

from typing import Annotated

import msgspec
from litestar import Response, delete, post
from litestar.di import NamedDependency
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import signing_in, tokens
from app.accounts.audit import Actor
from app.accounts.models import User
from app.accounts.tokens import CreatedToken
from app.api import bodies, parameters
from app.api.envelope import Code, Instant, answer
from app.api.openapi import POSTED, Endpoint
from app.api.parameters import Nothing
from app.api.tokens import TokenGuard
from app.db.session import enter_workspace
from app.errors import NotSignedIn
from app.texts import instant
from app.web.context import Context
from app.web.guards import public
from app.web.pages import shown_once

PATH = "/auth/token"
NAME = "Mobile app"
LIFE_DAYS = 90
MOST_SIGNED_IN = 20


class SignInBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """`otp`: the six digits of the authenticator or a recovery code, if the account has a second factor."""

    email: Annotated[str, msgspec.Meta(min_length=1, max_length=320)]
    password: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
    otp: Annotated[str, msgspec.Meta(max_length=30)] | None = None


class SignedIn(msgspec.Struct, kw_only=True):
    """The token is shown only here."""

    token: Code
    expires_at: Instant | None
    scopes: Annotated[list[Code], msgspec.Meta(max_length=10)]


@post(PATH, guards=[public], status_code=201)
async def sign_in(ctx: NamedDependency[Context]) -> Response[bytes]:
    body = await bodies.read(SignInBody, ctx.request)
    parameters.read(Nothing, ctx.request.query_params)
    # Checking a password needs transactions of its own.
    await ctx.settle()
    user_id = await _authenticate(ctx, signing_in.Attempt(body.email, body.password, body.otp))
    async with ctx.parts.database.shared_transaction() as db:
        made = await _token(ctx, db, user_id)
    signed_in = SignedIn(token=made.text, expires_at=instant(made.expires_at), scopes=list(made.scopes))
    return shown_once(answer(signed_in, status=201))


@delete(PATH, guards=[TokenGuard("me")], status_code=200)
async def sign_out(ctx: NamedDependency[Context]) -> Response[bytes]:
    """Ends the token with which the request was sent."""
    parameters.read(Nothing, ctx.request.query_params)
    await tokens.revoke(ctx.db, ctx.actor, ctx.token_id, owner_id=ctx.user.id)
    return answer(None)


async def _authenticate(ctx: Context, attempt: signing_in.Attempt) -> int:
    try:
        return await signing_in.authenticate(ctx.parts.database, ctx.parts.keys, attempt)
    except (signing_in.SignInRefused, signing_in.SecondFactorNeeded):
        # The same answer for every failure: it must not tell that the password was right.
        raise NotSignedIn(
            "E-mail, password or authenticator code is wrong, or the account is locked for some minutes."
        ) from None


async def _token(ctx: Context, db: AsyncSession, user_id: int) -> CreatedToken:
    user = (await db.execute(select(User.workspace, User.name).where(User.id == user_id))).one()
    await enter_workspace(db, user.workspace)
    actor = Actor(user_id, user.name, ctx.ip, ctx.request_id)
    await tokens.make_room(db, user_id, NAME, keep=MOST_SIGNED_IN - 1)
    return await tokens.create(db, actor, user_id, ["me"], name=NAME, days=LIFE_DAYS)


ROUTES = [sign_in, sign_out]
ENDPOINTS = (
    Endpoint(
        "POST", f"/v1/api{PATH}", "Trades e-mail and password for a token", SignedIn, body=SignInBody, status=201,
        errors=POSTED,
    ),
    Endpoint("DELETE", f"/v1/api{PATH}", "Ends the token that is sent", type(None), scope="me"),
)  # fmt: skip
