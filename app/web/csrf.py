"""Guards against forged requests from other sites: every unsafe request carries a token bound to its session, and comes
from our own origin.

Compressed pages repeat what a person typed, beside the token. So the token looks different in each answer, and the
length of the compressed page tells nothing about it (this attack is known as BREACH).
"""

import binascii
import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any
from urllib.parse import urlsplit

from litestar import Request
from litestar.datastructures import FormMultiDict

from app.errors import Forbidden, Invalid
from app.secrets import KeyRing
from app.web import sessions
from app.web.context import Context, provide_context
from app.web.returning import told
from app.wording.marked import marked

SAFE = {"GET", "HEAD", "OPTIONS"}
FIELD, HEADER = "csrf_token", "x-csrf-token"
SIZE = 32  # Bytes of a token.
_EXPIRED = marked("This form is too old, or it came from another site. Reload the page and repeat.")


def token_of(context: Context) -> str:
    """The token for forms of this session, masked. Before sign-in it is bound to a visitor cookie, which this function
    sets."""
    return masked(_expected(context), secrets.token_bytes(SIZE))


def masked(token: str, mask: bytes) -> str:
    """`token` (made by `sign`) under a mask of SIZE bytes, with the mask beside it."""
    return urlsafe_b64encode(mask + _xor(bytes.fromhex(token), mask)).decode()


def unmasked(sent: str) -> str:
    """The token under the mask; a value that is not masked is returned as it is."""
    try:
        both = urlsafe_b64decode(sent)
    except (binascii.Error, ValueError):
        return sent
    return _xor(both[:SIZE], both[SIZE:]).hex() if len(both) == 2 * SIZE else sent


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _expected(context: Context) -> str:
    return sign(context.parts.keys, context.person.session_key if context.person else _visitor(context))


async def check(request: Request[Any, Any, Any]) -> None:
    """Litestar's before_request on every browser route. Raises Forbidden, and Invalid for a form that is not text.

    The form is read here even when the token comes in a header. So when a sender goes away before its end, the handler
    has done nothing yet.
    """
    if request.method in SAFE:
        return
    context = await provide_context(request)
    if not same_origin(context):
        raise Forbidden(_EXPIRED)
    form = await _read(request)
    sent = request.headers.get(HEADER) or form.get(FIELD)
    # Pages that were opened before this version was installed send an unmasked token. The next release refuses it.
    if not isinstance(sent, str) or not hmac.compare_digest(unmasked(sent).encode(), _expected(context).encode()):
        raise Forbidden(_EXPIRED)


async def _read(request: Request[Any, Any, Any]) -> FormMultiDict:
    """Reads the form. A part of it may name an encoding that is unknown, or that does not fit its bytes, or in which
    they mean half of a surrogate pair, which no page can show."""
    try:
        form = await request.form()
        for name, value in form.multi_items():
            (name + value if isinstance(value, str) else name).encode()
    except (UnicodeError, LookupError):
        raise Invalid("The form holds something that is not text. Reload the page and repeat.") from None
    return form


def same_origin(context: Context) -> bool:
    """Browsers send Origin with every form. A client that sends none is no browser, so the token alone decides."""
    origin = context.request.headers.get("origin")
    if not origin:
        return True
    allowed = {urlsplit(context.parts.settings.base_url).netloc}
    if not context.parts.settings.production:
        allowed.add(context.request.headers.get("host", ""))
    return told(origin)[0] in allowed


def _visitor(context: Context) -> bytes:
    name = f"{sessions.cookie_name(context.parts.settings)}-visitor"
    known = context.request.cookies.get(name)
    if known:
        return known.encode()
    fresh = secrets.token_urlsafe(24)
    secure = "; Secure" if context.parts.settings.secure else ""
    context.cookies.append(f"{name}={fresh}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax{secure}")
    context.request.cookies[name] = fresh
    return fresh.encode()


def sign(keys: KeyRing, session: bytes) -> str:
    """The token that belongs to a session's key, in hex."""
    return hmac.new(keys.derive("csrf"), session, hashlib.sha256).hexdigest()
