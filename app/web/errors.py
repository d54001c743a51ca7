"""The one place that turns an error into an answer: a page, a fragment for htmx, or the envelope of the JSON APIs."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
import structlog
from litestar import Request, Response
from litestar.enums import MediaType
from litestar.exceptions import HTTPException
from litestar.response import Redirect
from litestar.types import Scope, Send
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.db.connecting import READ_ONLY
from app.db.pool import ShareTaken
from app.errors import (
    Busy,
    Conflict,
    FieldError,
    Forbidden,
    Invalid,
    NotFound,
    NotSignedIn,
    Refusal,
    TooLarge,
    Unavailable,
)
from app.languages import tag_of
from app.web.context import Context, context_in
from app.web.drafts.carrying import InterruptedWriting
from app.web.returning import OVERLAYS, is_ours, told, with_its_query
from app.web.transport.methods import API, allowed
from app.wording.marked import marked, sentence, worded
from app.wording.speech import speaking, spoken

log = structlog.get_logger()
TITLES = {
    401: marked("Sign in first"),
    403: marked("You may not do this"),
    404: marked("Not found"),
    405: marked("This is not a page to open"),
    408: marked("Too slow"),
    409: marked("Not possible now"),
    413: marked("Too large"),
    422: marked("Something in the request is wrong"),
    429: marked("Too many requests"),
    500: marked("Something went wrong here"),
    503: marked("Not available right now"),
}
RETRY_AFTER_S = 5
# Messages of modules below, which know no translations.
_SAID_BELOW = (
    marked("This was not found."),
    marked("The request took too long to arrive. Retry on a faster connection, or send less at once."),
    marked("The request is too large for this address. Send a smaller file, or less at once."),
)
AWAY = marked("The database can't be reached. Try again in a moment.")
NO_CHANGES = marked("The database takes no changes right now. Try again in a moment.")
CROWDED = marked("All connections to the database are in use right now. Try again in a moment.")
SHARE_TAKEN = marked("Too many requests of your workspace wait for the database right now. Try again in a moment.")
TOO_SLOW = marked("The database did not answer in time. Try again in a moment, or ask for less at once.")
# Appended when something was sent that should have been saved.
NOT_SAVED = marked("Nothing was saved. You can send it again.")
PERHAPS_SAVED = marked("It may have been saved or not: look before you send it again.")
# The statement was ended, by its limit or by the people who run the server.
_ENDED = "57014"
# The server is ending or starting, or is gone. "08" is any failure of a connection.
_AWAY = frozenset({"57P01", "57P02", "57P03"})
# A table, column or schema does not exist, or a column was changed under a prepared statement.
_OTHER_TABLES = frozenset({"42P01", "42703", "3F000", "0A000"})
READING = ("GET", "HEAD", "OPTIONS")
# The page may work when it is requested again.
PASSING = (408, 429, 500, 503)
WRONG_HERE = marked("Something went wrong on our side. The log has the details under the number below.")
A_FORMS_ADDRESS = marked("Only a form sends to this address. Go back to the page with the form and use its button.")


class MethodNotAllowed(Refusal):
    status, code = 405, "method_not_allowed"


class UnsupportedMediaType(Refusal):
    status, code = 415, "unsupported_media_type"


class Internal(Refusal):
    status, code = 500, "internal"


class Gone(Refusal):
    """The sender went away before the body was complete. No client reads an answer, and there is no fault of ours to
    log."""

    status, code = 400, "invalid_body"

    def __init__(self) -> None:
        super().__init__("The request ended before it was complete.")


def handle(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Litestar's exception handler for everything."""
    refusal = logged(request, error)
    if isinstance(refusal, Busy):
        context = context_in(request.scope)
        refusal = told_what_became_of_it(refusal, request.method, kept=context is not None and context.kept)
    answer = _answer(request, refusal)
    if isinstance(refusal, MethodNotAllowed):
        answer.headers["Allow"] = allowed(request)
    if isinstance(refusal, Busy):
        answer.headers["Retry-After"] = str(refusal.retry_after_s)
    return answer


def logged(request: Request[Any, Any, Any], error: Exception) -> Refusal:
    """What the exception means for the person who met it. The log gets what it means for us."""
    refusal = as_refusal(error)
    if isinstance(refusal, Busy):
        log.warning("no room for a request", path=request.url.path, error=type(error).__name__)
    elif refusal.status >= Internal.status:
        log.error("request failed", path=request.url.path, exc_info=error)
    return refusal


def told_what_became_of_it(refusal: Busy, method: str, *, kept: bool) -> Busy:
    """For a refused request that should have saved something: also says whether it was saved. `kept`: that is not
    known."""
    if method in READING:
        return refusal
    what = PERHAPS_SAVED if kept else NOT_SAVED
    return Busy(
        worded("{happened} {became}", happened=sentence(refusal.message), became=sentence(what)),
        retry_after_s=refusal.retry_after_s,
    )


def _answer(request: Request[Any, Any, Any], refusal: Refusal) -> Response[Any]:
    if request.url.path.startswith(API):
        return envelope(refusal, _request_id(request.scope))
    if isinstance(refusal, InterruptedWriting):
        context = context_in(request.scope)
        if context is not None:
            return _with_what_was_written(request, context, refusal)
    if isinstance(refusal, NotSignedIn):
        return _to_sign_in(request)
    return _page(request, refusal)


def refuse_head(context: Context) -> None:
    """For a page that asks another server, because a HEAD must not cause such a call. Raises MethodNotAllowed."""
    if context.is_head:
        raise MethodNotAllowed("This address does not take that method.")


def as_refusal(error: Exception) -> Refusal:
    """What an exception means for the person who met it."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        return _of_litestar(error)
    return _passing(error) or _of_database(_sqlstate(error)) or Internal(WRONG_HERE)


def _passing(error: Exception) -> Busy | None:
    """Faults of the database that end by themselves. The codes are PostgreSQL's (its manual, appendix A)."""
    sqlstate = _sqlstate(error)
    if isinstance(error, PoolTimeoutError):
        message = SHARE_TAKEN if isinstance(error, ShareTaken) else CROWDED
    elif sqlstate == _ENDED or isinstance(error, TimeoutError):
        message = TOO_SLOW
    elif sqlstate == READ_ONLY:
        message = NO_CHANGES
    elif sqlstate in _AWAY or sqlstate[:2] == "08" or _lost(error):
        message = AWAY
    else:
        return None
    return Busy(message, retry_after_s=RETRY_AFTER_S)


def _of_database(sqlstate: str) -> Refusal | None:
    """Faults of the database that people must mend, and that come neither from the request nor from our code."""
    if sqlstate[:2] == "53":
        return Unavailable(
            "The database is full, or has no free connection. The people who run this server must make room."
        )
    if sqlstate in _OTHER_TABLES:
        return Unavailable("This server must be updated, or an update is running: its tables do not fit the program.")
    return None


def _sqlstate(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) or ""


def _lost(error: Exception) -> bool:
    if isinstance(error, (OperationalError, InterfaceError, ConnectionError)):
        return True
    return isinstance(error, DBAPIError) and error.connection_invalidated


def _of_litestar(error: HTTPException) -> Refusal:
    kinds: dict[int, Refusal] = {
        401: NotSignedIn("Sign in first."),
        403: Forbidden(marked("You may not do that.")),
        404: NotFound(),
        405: MethodNotAllowed("This address does not take that method."),
        413: TooLarge(),
        415: UnsupportedMediaType("Send application/json."),
        409: Conflict(error.detail),
    }
    if error.status_code in kinds:
        return kinds[error.status_code]
    if error.status_code >= Internal.status:
        return Internal(WRONG_HERE)
    extra = error.extra if isinstance(error.extra, list) else []
    details = [FieldError(str(item.get("key", "")), str(item.get("message", ""))) for item in extra if item]
    return Invalid(
        marked("The form can't be read: it was cut off, or has too many parts. Reload the page and repeat."),
        details=details,
    )


def envelope(refusal: Refusal, request_id: str) -> Response[bytes]:
    """The failure envelope of the JSON APIs."""
    # A message that pages could translate is not plain text yet.
    body: dict[str, Any] = {"code": refusal.code, "message": str(refusal.message)}
    if refusal.details:
        body["details"] = [{"field": item.field, "message": str(item.message)} for item in refusal.details]
    if refusal.status == Internal.status:
        body = {"code": refusal.code, "message": request_id}
    headers = {}
    if refusal.status == NotSignedIn.status:
        headers["WWW-Authenticate"] = "Bearer"
    if hasattr(refusal, "retry_after_s"):
        headers["Retry-After"] = str(refusal.retry_after_s)
    return Response(
        msgspec.json.encode({"success": False, "error": body}),
        status_code=refusal.status,
        media_type=MediaType.JSON,
        headers=headers,
    )


def _to_sign_in(request: Request[Any, Any, Any]) -> Response[Any]:
    is_htmx = request.headers.get("hx-request") == "true"
    here = (_page_in_browser(request) if is_htmx else "") or _asked_for(request)
    target = "/sign-in" + (f"?next={quote(here)}" if here not in ("", "/") else "")
    if lang := _language_of(here):
        target += f"&lang={lang}"
    if is_htmx:
        return Response("", status_code=401, headers={"HX-Redirect": target})
    return Redirect(target, status_code=303)


def _language_of(address: str) -> str:
    """The tag in an address (`?lang=`), in which the sign-in form speaks too; "" for none."""
    return tag_of(parse_qs(urlsplit(address).query).get("lang", [""])[0]) or ""


def _with_what_was_written(
    request: Request[Any, Any, Any], context: Context, refusal: InterruptedWriting
) -> Response[Any]:
    """The sign-in form, which carries what was typed back to its page."""
    context.meet(request)
    page: Response[Any] = request.app.state.sign_in_page(context, refusal.page, refusal.sealed)
    return page


def _asked_for(request: Request[Any, Any, Any]) -> str:
    """Where signing in leads; "" after an act, because it is not repeated by itself."""
    return with_its_query(request.url.path, request.url.query) if request.method == "GET" else ""


def _page_in_browser(request: Request[Any, Any, Any]) -> str:
    """The page that sent the request. "" when the request asks for a page itself, such as a filtered list, or something
    in the drawer or dialog. Anything else is a part of a page, such as the figures of a current run, and no page to return
    to."""
    host, shown = told(request.headers.get("hx-current-url", ""))
    asks_for_page = request.headers.get("hx-target", "") in OVERLAYS or urlsplit(shown).path == request.url.path
    ours = host == request.headers.get("host") and not (asks_for_page and request.method == "GET")
    return shown if ours else ""


def _page(request: Request[Any, Any, Any], refusal: Refusal) -> Response[str]:
    """errors/error.html, with the menu for people who are signed in; errors/fragment.html for htmx."""
    context = context_in(request.scope)
    if context is None:
        return _drawn(request, refusal, None)
    context.meet(request)
    with speaking(context.speech):
        return _drawn(request, refusal, context)


def _drawn(request: Request[Any, Any, Any], refusal: Refusal, context: Context | None) -> Response[str]:
    from app.web.pages import frame
    from app.web.templating import render

    values = {
        "status": refusal.status,
        "heading": TITLES.get(refusal.status, "Refused"),
        "message": A_FORMS_ADDRESS if isinstance(refusal, MethodNotAllowed) else refusal.message,
        "details": refusal.details,
        "request_id": _request_id(request.scope),
    }
    headers = {"Vary": "HX-Request"}
    if request.headers.get("hx-request") == "true":
        html = render("errors/fragment.html", target=request.headers.get("hx-target", ""), **values)
        headers["X-Refusal"] = str(refusal.status)  # static/js/toasts.js shows it where the person can read it.
    elif context is None or context.person is None:
        spoken_so = {"speech": spoken(), "shell": spoken()}
        html = render("errors/error.html", **spoken_so, ways=_ways_on(request, refusal, []), **values)
    else:
        around = frame(context)
        html = render(
            "errors/error.html", **around, flashes=[], ways=_ways_on(request, refusal, around["menu"]), **values
        )
    return Response(html, status_code=refusal.status, media_type=MediaType.HTML, headers=headers)


def _ways_on(request: Request[Any, Any, Any], refusal: Refusal, menu: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(label, address) of ways on from here, the likeliest first: again, what the refusal names (`way`), back, the list
    above, the first page."""
    asks, here = request.method == "GET", with_its_query(request.url.path, request.url.query)
    host, came = told(request.headers.get("referer", ""))
    back = came if host == request.headers.get("host") else ""
    section = [(item["label"], item["url"]) for group in menu for item in group["items"] if item["active"]]
    ways = {here: marked("Try again")} if asks and refusal.status in PASSING else {}
    if better := getattr(refusal, "way", None):
        ways[_changed(request, better[1])] = better[0]
    if back and not (asks and back == here):
        ways.setdefault(back, marked("Back to where you were"))
    for label, url in section:
        if url != here:
            ways.setdefault(url, worded("To {page}", page=label))
    ways.setdefault("/", marked("To the first page"))
    return [(label, url) for url, label in ways.items() if is_ours(url)]


def _changed(request: Request[Any, Any, Any], changes: Mapping[str, str]) -> str:
    """The address of this request with a changed query."""
    from app.web.templating import with_query

    query = request.query_params
    return with_query(request.url.path, {name: query.getall(name) for name in query}, **changes)


def _request_id(scope: Scope) -> str:
    context = context_in(scope)
    return context.request_id if context is not None else ""


async def plain_answer(send: Send, scope: Scope, refusal: Refusal, *, kept: bool = False) -> None:
    """An answer when there is no application or no database. `kept`: what was sent may have been saved."""
    if isinstance(refusal, Busy):
        refusal = told_what_became_of_it(refusal, str(scope.get("method")), kept=kept)
    kind, body = plain(scope["path"], str(scope.get("method")), refusal, _htmx_target(scope))
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), (b"vary", b"HX-Request")]
    if isinstance(refusal, Busy):
        headers.append((b"retry-after", str(refusal.retry_after_s).encode()))
    if _htmx_target(scope) is not None:
        headers.append((b"x-refusal", str(refusal.status).encode()))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _htmx_target(scope: Scope) -> str | None:
    """The id of the element that htmx will fill, None when htmx did not ask."""
    headers = {
        name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"hx-request", b"hx-target")
    }
    return headers.get(b"hx-target", "") if headers.get(b"hx-request") == "true" else None


def plain(path: str, method: str, refusal: Refusal, htmx_target: str | None = None) -> tuple[bytes, bytes]:
    """Media type and body of a refusal when only the address is known."""
    if path.startswith(API):
        return b"application/json", envelope(refusal, "").content
    from app.web.templating import render

    here = quote(path)
    values = {
        "status": refusal.status,
        "heading": TITLES.get(refusal.status, "Refused"),
        "message": refusal.message,
        "details": (),
        "request_id": "",
    }
    if htmx_target is not None:
        html = render("errors/fragment.html", target=htmx_target, **values)
    else:
        ways = [("Try again", here)] if method == "GET" and is_ours(here) else []
        html = render("errors/error.html", ways=ways, **values)
    return b"text/html; charset=utf-8", html.encode()
