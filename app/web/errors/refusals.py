"""What an error means to the person who met it, as a Refusal. No page is made here."""

from typing import Any

import structlog
from litestar import Request
from litestar.exceptions import HTTPException
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.db.away import is_away, sqlstate_of
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
from app.web.context import Context
from app.wording.marked import marked, sentence, worded

log = structlog.get_logger()
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
CROSSED = marked("Another change of the same rows came at the same time. Try again in a moment.")
# Appended when something was sent that should have been saved.
NOT_SAVED = marked("Nothing was saved. You can send it again.")
PERHAPS_SAVED = marked("It may have been saved or not: look before you send it again.")
# The statement was ended, by its limit or by the people who run the server.
_ENDED = "57014"
# Deadlock, or a transaction that can't be put in order with others. PostgreSQL has taken all of it back.
_CROSSED = frozenset({"40P01", "40001"})
# A table, column or schema does not exist, or a column was changed under a prepared statement.
_OTHER_TABLES = frozenset({"42P01", "42703", "3F000", "0A000"})
READING = ("GET", "HEAD", "OPTIONS")
WRONG_HERE = marked("Something went wrong on our side. The log has the details under the number below.")


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
    return _passing(error) or _of_database(sqlstate_of(error)) or Internal(WRONG_HERE)


def _passing(error: Exception) -> Busy | None:
    """Faults of the database that end by themselves. The codes are PostgreSQL's (its manual, appendix A)."""
    sqlstate = sqlstate_of(error)
    if isinstance(error, PoolTimeoutError):
        message = SHARE_TAKEN if isinstance(error, ShareTaken) else CROWDED
    elif sqlstate == _ENDED or isinstance(error, TimeoutError):
        message = TOO_SLOW
    elif sqlstate == READ_ONLY:
        message = NO_CHANGES
    elif sqlstate in _CROSSED:
        message = CROSSED
    elif is_away(error):
        message = AWAY
    else:
        return None
    return Busy(message, retry_after_s=RETRY_AFTER_S)


def _of_database(sqlstate: str) -> Refusal | None:
    """Faults of the database that people must fix, and that come neither from the request nor from our code."""
    if sqlstate[:2] == "53":
        return Unavailable(
            "The database is full, or has no free connection. The people who run this server must make room."
        )
    if sqlstate in _OTHER_TABLES:
        return Unavailable("This server must be updated, or an update is running: its tables do not fit the program.")
    return None


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
