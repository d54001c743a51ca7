"""Addresses of the server as an operator or the server wrote them: checked before anything is sent there."""

from urllib.parse import urlsplit

import httpx

from app.clock.remote.errors import SHAPE, ClockError

_REFERENCE_LENGTH = 500


def checked_base_url(text: str) -> str:
    """The base address without its trailing slash, such as https://clock.example.com or http://10.0.0.5:8081/prefix.

    Raises ValueError with one sentence for the operator.
    """
    url = text.strip()
    try:
        parts = urlsplit(url)
        port = parts.port
        _ = httpx.URL(url).host  # httpx decodes an xn-- name only when `host` is read
    except (ValueError, httpx.InvalidURL):
        raise ValueError(f"{url[:200]!r} is not an address. Write it like https://clock.example.com.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("The address begins with https:// or http:// and names a server.")
    if "@" in parts.netloc:
        raise ValueError("The address holds no user name or password; they have fields of their own.")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ValueError("The address ends with the server or a path: no ? and no #.")
    if port == 0 or not url.isprintable() or " " in url or "\\" in url:
        raise ValueError(f"{url[:200]!r} is not an address. Write it like https://clock.example.com.")
    return url.rstrip("/")


def photo_address(base_url: str, reference: str) -> tuple[str, str]:
    """(origin, path with query) of a picture. A reference to another server is refused: our token is not for it."""
    base, parts = urlsplit(base_url), urlsplit(reference)
    if len(reference) > _REFERENCE_LENGTH or not reference.isprintable() or "\\" in reference:
        raise ClockError(SHAPE, "The reference of the picture cannot be used.")
    if (parts.scheme or parts.netloc) and (parts.scheme, parts.netloc) != (base.scheme, base.netloc):
        raise ClockError(SHAPE, "The picture is on another server, which is not asked.")
    path = parts.path if parts.path.startswith("/") else f"{base.path}/{parts.path}"
    if ".." in path.split("/") or not parts.path:
        raise ClockError(SHAPE, "The reference of the picture cannot be used.")
    return f"{base.scheme}://{base.netloc}", f"{path}?{parts.query}" if parts.query else path
