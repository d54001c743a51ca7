"""How a call to the time-clock server can fail (docs/clock-servers.md, "Failure codes")."""

from app.outbound import OutboundError

NET, POLICY, AUTH, TOKEN = "TC-NET", "TC-POLICY", "TC-AUTH", "TC-TOKEN"
SHAPE, REMOTE, RATE = "TC-SHAPE", "TC-REMOTE", "TC-RATE"


class ClockError(OutboundError):
    """A failed call, classified. Attributes are those of OutboundError."""

    @classmethod
    def of(cls, error: OutboundError) -> "ClockError":
        return cls(
            error.code,
            error.message,
            excerpt=error.excerpt,
            status=error.status,
            retryable=error.retryable,
            retry_after_s=error.retry_after_s,
            redirect_to=error.redirect_to,
        )


class UnauthenticatedError(ClockError):
    """The server no longer knows our token. Leaves this package as a plain TC-TOKEN, after one renewal."""


class NotOfferedError(LookupError):
    """This kind of server has no such resource. Not a failure: a walk over the resources skips it."""
