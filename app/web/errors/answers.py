"""The one place that turns an error into an answer: a page, a fragment for htmx, or the envelope of the JSON APIs."""

from typing import Any
from urllib.parse import quote

import msgspec
from litestar import Request, Response
from litestar.enums import MediaType
from litestar.response import Redirect
from litestar.types import Scope, Send

from app.errors import (
    Busy,
    NotSignedIn,
    Refusal,
)
from app.web.context import Context, context_in
from app.web.drafts.carrying import InterruptedWriting
from app.web.errors.refusals import Internal, MethodNotAllowed, logged, told_what_became_of_it
from app.web.errors.ways_on import asked_for, language_of, page_in_browser, ways_on
from app.web.returning import is_ours
from app.web.transport.methods import API, allowed
from app.wording.marked import marked
from app.wording.speech import speaking, spoken

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
A_FORMS_ADDRESS = marked("Only a form sends to this address. Go back to the page with the form and use its button.")


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
    here = (page_in_browser(request) if is_htmx else "") or asked_for(request)
    target = "/sign-in" + (f"?next={quote(here)}" if here not in ("", "/") else "")
    if lang := language_of(here):
        target += f"&lang={lang}"
    if is_htmx:
        return Response("", status_code=401, headers={"HX-Redirect": target})
    return Redirect(target, status_code=303)


def _with_what_was_written(
    request: Request[Any, Any, Any], context: Context, refusal: InterruptedWriting
) -> Response[Any]:
    """The sign-in form, which carries what was typed back to its page."""
    context.meet(request)
    page: Response[Any] = request.app.state.sign_in_page(context, refusal.page, refusal.sealed)
    return page


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
        html = render("errors/error.html", **spoken_so, ways=ways_on(request, refusal, []), **values)
    else:
        around = frame(context)
        html = render(
            "errors/error.html", **around, flashes=[], ways=ways_on(request, refusal, around["menu"]), **values
        )
    return Response(html, status_code=refusal.status, media_type=MediaType.HTML, headers=headers)


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
