"""The one exception that an outbound call can end with. What a code means for a run is decided by the caller."""

NET, POLICY, SHAPE, RATE = "TC-NET", "TC-POLICY", "TC-SHAPE", "TC-RATE"


class OutboundError(Exception):
    """A call that did not give what was asked for.

    code            one of the TC codes, as text
    message         one sentence for an operator; never holds a secret
    excerpt         what came, redacted, at most 2 KiB; "" when nothing came
    status          HTTP status, or None when no answer arrived
    retryable       whether the same call may be sent again at once
    retry_after_s   seconds to wait before the next call (TC-RATE only)
    redirect_to     where the server pointed us (TC-SHAPE of a redirect only)
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        excerpt: str = "",
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        redirect_to: str | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.excerpt = excerpt
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.redirect_to = redirect_to

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def network_failure(message: str) -> OutboundError:
    """TC-NET: nothing usable came, and trying again may help."""
    return OutboundError(NET, message, retryable=True)
