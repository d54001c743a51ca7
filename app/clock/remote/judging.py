"""What an answer of the server means: a session, a page, or one of the failures. Takes a reply, returns or raises.

docs/clock-servers.md, "Failure codes", says what each failure is called.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus
from math import ceil
from typing import Any
from urllib.parse import urljoin

from app.clock.profiles import Profile
from app.clock.remote.errors import AUTH, RATE, REMOTE, SHAPE, TOKEN, ClockError, UnauthenticatedError
from app.clock.remote.page import Page
from app.clock.remote.session import ClockSession, life_of
from app.outbound import OutboundError, OutboundReply, retry_after_s, shortened
from app.secrets import Secret

_REJECTED = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_TOKEN_LENGTH = 8192
_SAID_LENGTH = 200
_TARGET_LENGTH = 300
# Some builds break on a dead token and answer with the words of their library, as text, JSON or an error page.
_EXPIRED = re.compile(rb"ExpiredSignature|Signature has expired|\btoken\b[^.<>{}]{0,60}\bexpired\b", re.IGNORECASE)
_SEARCHED_BYTES = 64 * 1024
NO_LICENCE = "This server may lack its API licence."


def session_from(reply: OutboundReply, profile: Profile, url: str, now: datetime) -> ClockSession:
    """The session that a sign-in or refresh gave. Raises ClockError: TC-AUTH when the credentials were refused."""
    _refuse_redirect(reply, url)
    _refuse_rate(reply, now)
    if reply.status in _REJECTED:
        raise ClockError(AUTH, _rejection(reply, profile))
    _refuse_status(reply, profile)
    document = _document(reply)
    code = _code(document, profile)
    reply.body_code = code
    if code is None and profile.envelope.code_required:
        raise ClockError(SHAPE, "The answer to the sign-in has no code.")
    if code is not None and code not in profile.success_codes:
        said = _said(document, profile)
        raise ClockError(AUTH, f"The server refused the sign-in with the code {code}{said}.")
    return _session(document, profile, now)


def page_from(reply: OutboundReply, profile: Profile, url: str, now: datetime, *, resource: str, number: int) -> Page:
    """A page of rows. Raises ClockError, or UnauthenticatedError when the token is no longer good."""
    if number > 1 and reply.status == profile.past_end_status and "detail" in _peek(reply):
        return Page(resource, number, [], 0, None, None)
    document = document_from(reply, profile, url, now)
    rows = _first(document, profile.envelope.rows)
    if not isinstance(rows, list):
        raise ClockError(SHAPE, f"The answer for {resource} has no list of rows.")
    total = _first(document, profile.envelope.total)
    if not _is_count(total):
        raise ClockError(SHAPE, f"The answer for {resource} has no total.")
    pages, said = (_first(document, pointer) for pointer in (profile.envelope.pages, profile.envelope.page))
    return Page(
        resource=resource,
        number=number,
        rows=rows,
        total=total,
        pages=pages if _is_count(pages) else None,
        said_number=said if _is_count(said) else None,
    )


def document_from(reply: OutboundReply, profile: Profile, url: str, now: datetime) -> dict[str, Any]:
    """The JSON object of a successful answer to a call with a token."""
    refuse_failure(reply, profile, url, now)
    document = _document(reply)
    code = reply.body_code = _code(document, profile)
    if code in profile.unauthenticated_codes:
        raise UnauthenticatedError(TOKEN, f"The server no longer accepts the session (code {code}).")
    if code is None and profile.envelope.code_required:
        raise ClockError(SHAPE, "The answer has no code that says whether it succeeded.")
    if code is not None and code not in profile.success_codes:
        raise ClockError(REMOTE, f"The server reported the error {code}{_said(document, profile)}.")
    return document


def refuse_failure(reply: OutboundReply, profile: Profile, url: str, now: datetime) -> None:
    """Raises what the status alone decides, and the unauthenticated code in the body of any failure."""
    _refuse_redirect(reply, url)
    _refuse_rate(reply, now)
    if reply.status < HTTPStatus.BAD_REQUEST:
        _refuse_status(reply, profile)
        return
    reply.body_code = _code(_peek(reply), profile)
    refused = reply.status == HTTPStatus.UNAUTHORIZED or reply.body_code in profile.unauthenticated_codes
    if refused or _says_expired(reply):
        raise UnauthenticatedError(TOKEN, "The server no longer accepts the session.")
    _refuse_status(reply, profile)


def _says_expired(reply: OutboundReply) -> bool:
    """True for a server error whose body says that the token has expired: it means what a 401 means."""
    broke = reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return broke and _EXPIRED.search(reply.body[:_SEARCHED_BYTES]) is not None


def _refuse_redirect(reply: OutboundReply, url: str) -> None:
    if not HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        return
    location = reply.headers.get("location", "").strip()
    if not location:
        raise ClockError(SHAPE, f"The server answered {reply.status} without a new address.")
    target = _target(url, location)
    raise ClockError(
        SHAPE, f"The server redirects to {target}. Redirects are not followed: use that address.", redirect_to=target
    )


def _target(url: str, location: str) -> str:
    try:
        target = urljoin(url, location)
    except ValueError:
        target = location
    # what follows the path may be a session of somebody's
    shown = shortened(target.partition("?")[0].partition("#")[0], _TARGET_LENGTH)
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in shown)


def _refuse_rate(reply: OutboundReply, now: datetime) -> None:
    waits = reply.headers.get("retry-after")
    asked = reply.status == HTTPStatus.TOO_MANY_REQUESTS
    if not asked and not (reply.status == HTTPStatus.SERVICE_UNAVAILABLE and waits is not None):
        return
    wait_s = retry_after_s(waits, now)
    raise ClockError(RATE, f"The server asks us to wait {ceil(wait_s)} s before the next call.", retry_after_s=wait_s)


def _refuse_status(reply: OutboundReply, profile: Profile) -> None:
    if HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES and reply.status != HTTPStatus.NO_CONTENT:
        return
    if reply.status < HTTPStatus.BAD_REQUEST:
        raise ClockError(SHAPE, f"The server answered {reply.status}, with no content.")
    said = _said(_peek(reply), profile)
    retryable = reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    hint = f" {NO_LICENCE}" if reply.status == HTTPStatus.FORBIDDEN else ""
    raise ClockError(REMOTE, f"The server answered {reply.status}{said}.{hint}", retryable=retryable)


def _rejection(reply: OutboundReply, profile: Profile) -> str:
    document = _peek(reply)
    errors = document.get("non_field_errors")
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], str) else ""
    said = _told(first) if first else _said(document, profile)
    sentence = f"The server refused the user name or password ({reply.status}){said}."
    bare = reply.status == HTTPStatus.BAD_REQUEST and not first
    hint = profile.sign_in.bare_400_hint if bare else NO_LICENCE if reply.status == HTTPStatus.FORBIDDEN else ""
    return f"{sentence} {hint}".strip()


def _session(document: dict[str, Any], profile: Profile, now: datetime) -> ClockSession:
    names = profile.sign_in
    for pointer in profile.envelope.session:
        kept = _at(document, pointer)
        access = _token(kept, names.access_names)
        if access is not None:
            refresh = _token(kept, names.refresh_names)
            life = life_of(
                access, _named(kept, names.life_names), _named(kept, names.end_names), now, profile.default_life_s
            )
            return ClockSession(Secret(access), Secret(refresh) if refresh else None, now, now + life)
    raise ClockError(SHAPE, "The answer to the sign-in has no token.")


def _token(kept: Any, names: Iterable[str]) -> str | None:
    """A token goes into a header: only what may stand there, and not endlessly."""
    token = _named(kept, names)
    if not isinstance(token, str) or not token or len(token) > _TOKEN_LENGTH:
        return None
    return token if all("!" <= letter <= "~" for letter in token) else None


def _named(kept: Any, names: Iterable[str]) -> Any:
    if not isinstance(kept, dict):
        return None
    return next((kept[name] for name in names if kept.get(name) is not None), None)


def _document(reply: OutboundReply) -> dict[str, Any]:
    if reply.media_type != "application/json":
        shown = shortened(reply.media_type, 60) or "no type"
        page = "a web page" if "html" in shown else shown
        raise ClockError(SHAPE, f"The server answered with {page} instead of JSON. A proxy may be in between.")
    try:
        document = reply.json()
    except OutboundError as error:
        raise ClockError.of(error) from None
    if not isinstance(document, dict):
        raise ClockError(SHAPE, "The answer is JSON, but not an object.")
    return document


def _peek(reply: OutboundReply) -> dict[str, Any]:
    """The body of a failure, if it happens to be a JSON object."""
    try:
        document = reply.json() if reply.media_type == "application/json" else None
    except OutboundError:
        return {}
    return document if isinstance(document, dict) else {}


def _code(document: dict[str, Any], profile: Profile) -> str | None:
    code = document.get(profile.envelope.code)
    if code is None:
        return None
    if isinstance(code, bool) or not isinstance(code, int | str):
        raise ClockError(SHAPE, "The code of the answer is not a text or a number.")
    return shortened(str(code), 64)


def _said(document: dict[str, Any], profile: Profile) -> str:
    said = next((document[name] for name in profile.envelope.message if isinstance(document.get(name), str)), "")
    return _told(said)


def _told(said: str) -> str:
    """The server's words as the end of one of our sentences: on one line, without a full stop."""
    plain = "".join(letter if letter.isprintable() else " " for letter in shortened(said, _SAID_LENGTH))
    words = " ".join(plain.split()).rstrip(".")
    return f": {words}" if words else ""


def _first(document: Any, pointers: Iterable[tuple[str, ...]]) -> Any:
    return next((found for pointer in pointers if (found := _at(document, pointer)) is not None), None)


def _at(document: Any, pointer: tuple[str, ...]) -> Any:
    for name in pointer:
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return document


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
