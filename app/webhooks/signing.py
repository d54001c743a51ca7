"""Signing an event as Standard Webhooks describes. Pure."""

import base64
import hmac
from collections.abc import Sequence

PREFIX = "whsec_"
SECRET_BYTES = 32


def secret_of(raw: bytes) -> str:
    """The secret in the form that a receiver's library takes."""
    return PREFIX + base64.b64encode(raw).decode()


def headers(message_id: str, body: bytes, secrets: Sequence[str], at_s: int) -> dict[str, str]:
    """Signs with each secret, the newest first: a receiver accepts the event when it knows one of them. `at_s` is the
    time of this attempt, in seconds since 1970."""
    signed = f"{message_id}.{at_s}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": " ".join(_signature(signed, secret) for secret in secrets),
    }


def _signature(signed: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
