"""What the product refuses, and with which code and status. Pure.

One handler (app.web.errors.answers) turns a Refusal into an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with one field or parameter; `message` says what to do."""

    field: str
    message: str


class Refusal(Exception):
    """Base of every domain error: a code of the table in docs/api.md, a status, and one sentence for the person."""

    status = 400
    code = "invalid_parameter"

    def __init__(self, message: str, *, details: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = tuple(details)


class NotSignedIn(Refusal):
    status, code = 401, "unauthorized"


class Forbidden(Refusal):
    status, code = 403, "forbidden"


class InsufficientScope(Refusal):
    status, code = 403, "insufficient_scope"


class NotFound(Refusal):
    status, code = 404, "not_found"

    def __init__(self, message: str = "This was not found.") -> None:
        super().__init__(message)


class ModuleUnavailable(NotFound):
    code = "module_unavailable"


class Conflict(Refusal):
    """The act does not fit the state that the thing is in now."""

    status, code = 409, "conflict"


class RequestTimeout(Refusal):
    status, code = 408, "request_timeout"

    def __init__(self) -> None:
        super().__init__("The request took too long to arrive. Retry on a faster connection, or send less at once.")


class TooLarge(Refusal):
    status, code = 413, "too_large"

    def __init__(self) -> None:
        super().__init__("The request is too large for this address. Send a smaller file, or less at once.")


class Invalid(Refusal):
    """A parameter or field is wrong; `details` names each."""

    status, code = 422, "invalid_parameter"

    @classmethod
    def at(cls, field: str, message: str) -> Self:
        """Only one field is wrong."""
        return cls(message, details=[FieldError(field, message)])


class InvalidBody(Invalid):
    code = "invalid_body"


class RateLimited(Refusal):
    status, code = 429, "rate_limited"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(Refusal):
    status, code = 503, "unavailable"


class Busy(Unavailable):
    """There is no room for it now, but there will be soon."""

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
