"""The mail server that MUSTER_SMTP_URL names, and the sender of MUSTER_MAIL_FROM. Pure."""

from dataclasses import dataclass, field
from email.utils import formataddr, parseaddr
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from app.texts import EMAIL

Security = Literal["tls", "starttls", "none"]
_PORTS: dict[Security, int] = {"tls": 465, "starttls": 587, "none": 25}
_FORM = "write smtp://user:password@host:587 or smtps://user:password@host:465"
_HERE = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """`security` tls: encrypted from the start; starttls: encrypted before anything else is said, or not at all."""

    host: str
    port: int
    security: Security
    user: str = ""
    password: str = field(default="", repr=False)


def read_server(url: str) -> SmtpServer:
    """`smtps://user:pass@host:465` or `smtp://user:pass@host:587?starttls=required`. Raises ValueError with a sentence
    that tells nothing of the address, which holds a password."""
    try:
        address = urlsplit(url)
        port = address.port
    except ValueError:
        # Its own sentence quotes what stands there, which may be the password.
        raise ValueError(_FORM) from None
    security = _security(address)
    if not address.hostname or address.path not in ("", "/") or address.fragment:
        raise ValueError(_FORM)
    user, password = (unquote(part or "") for part in (address.username, address.password))
    if password and security == "none" and address.hostname not in _HERE:
        raise ValueError("with a password it needs an encrypted connection: leave starttls=none out")
    return SmtpServer(address.hostname, port or _PORTS[security], security, user, password)


def _security(address: SplitResult) -> Security:
    asked = dict(parse_qsl(address.query, keep_blank_values=True))
    starttls = asked.pop("starttls", "required")
    if address.scheme not in ("smtp", "smtps") or asked or starttls not in ("required", "none"):
        raise ValueError(
            "it must begin with smtp:// or smtps://, and may end with ?starttls=required or ?starttls=none"
        )
    if address.scheme == "smtps":
        return "tls"
    return "starttls" if starttls == "required" else "none"


def read_sender(value: str) -> str:
    """As a header has it, from `muster@example.org` or `Muster <muster@example.org>`. Raises ValueError."""
    name, email = parseaddr(value)
    if not EMAIL.fullmatch(email) or not value.isprintable():
        raise ValueError("write muster@example.org or Muster <muster@example.org>")
    return formataddr((name or "Muster", email))
