"""Addresses of receivers as a person writes them. app.outbound checks at each call where they lead. Pure."""

import re
from typing import Final
from urllib.parse import urlsplit

from app.errors import FieldError, Invalid

LONGEST = 1000
# The part of an address that is shown, and the rest; PostgreSQL reads it the same way.
LEFT_OUT: Final = r"^([^:]+://[^/?]+(?:/[^/?]+(?=/[^?]))?)[/?].+$"
SHORT: Final = r"\1/…"
LIKE = "Write it like https://example.org/muster."


def checked(text: str) -> str:
    """The address. Raises Invalid with one sentence."""
    url = text.strip()
    if problem := _problem(url):
        raise Invalid(problem, details=[FieldError("url", problem)])
    return url


def split(url: str) -> tuple[str, str]:
    """Its origin, and the rest."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    return origin, url[len(origin) :] or "/"


def shortened(url: str) -> str:
    """The server and the first part of a longer path, for the audit, titles and mails: the rest is often the secret of
    the receiver."""
    return re.sub(LEFT_OUT, SHORT, url)


def shown(url: str) -> str:
    """The address without its query, which may hold a key of the receiver. For people who keep webhooks."""
    return url.partition("?")[0] + ("?…" if "?" in url else "")


def _problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return f"This is not an address. {LIKE}"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f"The address begins with https:// or http:// and names a server. {LIKE}"
    return _unusual(url, parts.netloc, port)


def _unusual(url: str, server: str, port: int | None) -> str | None:
    if "@" in server:
        return "The address holds no user name or password. The receiver checks the signature instead."
    if "#" in url:
        return "The address has no # in it: what follows is never sent."
    if port == 0 or not (url.isascii() and url.isprintable()) or " " in url or "\\" in url:
        return f"This is not an address. {LIKE} Letters beyond ASCII are written as %C3%A9, or xn-- in a name."
    if len(url) > LONGEST:
        return f"An address has at most {LONGEST} characters; this one has {len(url)}."
    return None
