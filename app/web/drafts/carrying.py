"""Carries what a person typed through the sign-in form, when their session ended before they sent it. It is sealed for
that person, and appears on the page again afterwards. This is for browsers without script; with script, the browser
keeps what was typed.

The form contains a mark of the person. It can't be made up, and it fits only their own sign-in.
"""

import hashlib
import hmac
import json
import zlib
from base64 import b85decode, b85encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from litestar import Request
from litestar.datastructures import FormMultiDict
from litestar.handlers.base import BaseRouteHandler
from sqlalchemy import select, update

from app.accounts.models import Session
from app.db.session import PLATFORM
from app.errors import NotSignedIn, TooLarge
from app.secrets import KeyRing, Place, SecretError
from app.web import csrf
from app.web.context import Context, provide_context
from app.web.guards import Connection, Requires
from app.web.templating import with_query

# Forms that can be carried have `person`; the sign-in form has `carried`.
PERSON, FIELD = "person", "carried"
LIFE = timedelta(hours=1)
# In characters. Together with the sign-in form it stays below what is read from anybody.
LONGEST = 48 * 1024
_NEVER_CARRIED = frozenset({csrf.FIELD, PERSON, "action", "ask"})


@dataclass(frozen=True, slots=True)
class Carried:
    """`page` is the address of the form, in the language of that address; `fields` are its fields, without buttons and
    those of the session."""

    page: str
    fields: FormMultiDict


class InterruptedWriting(NotSignedIn):
    """Somebody sent a form after their session had ended. `sealed` is what they typed, `page` the address of the
    form."""

    def __init__(self, sealed: str, page: str) -> None:
        super().__init__("Sign in first.")
        self.sealed, self.page = sealed, page


class RequiresOrCarries(Requires):
    """As Requires. What a person without a session sends is kept until they have signed in. `page` is the form's
    address, "" when the form is not ours."""

    def __init__(self, page: Callable[[FormMultiDict], str], *, module: str | None = None) -> None:
        super().__init__(None, module=module)
        self.page = page

    async def __call__(self, connection: Connection, handler: BaseRouteHandler) -> None:
        context = await provide_context(cast("Request[Any, Any, Any]", connection))
        if context.person is None and (wrote := await self._wrote(context)):
            raise wrote
        await super().__call__(connection, handler)

    async def _wrote(self, context: Context) -> InterruptedWriting | None:
        if context.request.headers.get("hx-request") == "true" or not csrf.same_origin(context):
            return None
        try:
            form = await context.form()
        except TooLarge:
            return None
        page, mark = self.page(form), str(form.get(PERSON, ""))
        if not page or not mark:
            return None
        page = with_query(page, {"lang": context.asked_lang})
        sealed = seal(context.parts.keys, mark, Carried(page, form), datetime.now(UTC))
        return InterruptedWriting(sealed, page) if len(sealed) <= LONGEST else None


def mark_of(keys: KeyRing, user_id: int) -> str:
    """Stands for a person in pages and in what their browser keeps, without revealing who they are."""
    return hmac.new(keys.derive("person-mark"), str(user_id).encode(), hashlib.sha256).hexdigest()[:32]


def seal(keys: KeyRing, mark: str, carried: Carried, now: datetime) -> str:
    """Seals the fields: only the person with this mark can open them, for LIFE."""
    fields = [(name, value) for name, value in carried.fields.multi_items() if isinstance(value, str)]
    kept = [(name, value) for name, value in fields if name not in _NEVER_CARRIED]
    text = json.dumps({"at": now.timestamp(), "page": carried.page, "fields": kept})
    return keys.seal(b85encode(zlib.compress(text.encode(), 9)).decode(), _place(mark))


def opened(keys: KeyRing, sealed: str, user_id: int, now: datetime) -> Carried | None:
    """None for another person, and when it is too old or was changed."""
    try:
        packed = keys.open(sealed, _place(mark_of(keys, user_id))).reveal()
    except SecretError:
        return None
    told = json.loads(zlib.decompress(b85decode(packed)))
    if now - datetime.fromtimestamp(told["at"], UTC) > LIFE:
        return None
    return Carried(told["page"], FormMultiDict([(name, value) for name, value in told["fields"]]))


async def waiting(ctx: Context, page: str) -> Carried | None:
    """What this session carries for this page, in any language."""
    sealed = await ctx.db.scalar(select(Session.carried).where(Session.id_hash == ctx.user.session_key))
    found = opened(ctx.parts.keys, sealed, ctx.user.id, datetime.now(UTC)) if sealed else None
    return found if found and found.page.partition("?")[0] == page else None


async def let_go(ctx: Context) -> None:
    """Removes it after it was sent."""
    mine = update(Session).where(Session.id_hash == ctx.user.session_key, Session.carried.is_not(None))
    await ctx.db.execute(mine.values(carried=None))


def _place(mark: str) -> Place:
    return Place("sessions", "carried", PLATFORM, mark)
