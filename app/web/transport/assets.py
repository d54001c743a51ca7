"""Scripts, style sheets and pictures for browsers: under an address that contains a hash of their content, compressed
once.

A file under such an address never changes, so a browser asks for it once and keeps it for ever. The sheets that each
page needs are one file, and so are the scripts and the icons; each is built from the files in static/ when it is first
requested.
"""

import hashlib
import mimetypes
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import brotli
from litestar import Request, Response, get
from litestar.params import FromPath

from app.errors import NotFound
from app.web.transport.compressing import SMALLEST, chosen, is_text
from app.web.transport.needed import needed, written_in_pages
from app.web.transport.sheets import packed
from app.web.transport.sprite import sprite

STATIC = (Path(__file__).parents[3] / "static").resolve()
# Each browser needs them on its first page, so they are compressed more than an answer for one reader.
BROTLI_QUALITY = 9
GZIP = 16 + zlib.MAX_WBITS
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
TABLER = "vendor/tabler-core@1.6.1/css/tabler.min.css"
SHEETS = (
    TABLER,
    "css/fonts.css",
    "css/muster.css",
    "css/shell.css",
    "css/lists.css",
    "css/components.css",
    "css/drawings.css",
    "css/surveys.css",
    "css/answering.css",
    "css/plain.css",
)
LIBRARIES = (
    "vendor/htmx.org@2.0.11/htmx.min.js",
    "vendor/idiomorph@0.8.0/idiomorph-ext.min.js",
    "vendor/htmx-ext-sse@2.2.4/sse.min.js",
)
SCRIPTS = (
    "menus",
    "overlays",
    "palette",
    "lists",
    "tables",
    "queue",
    "keys",
    "fields",
    "sections",
    "combobox",
    "toasts",
    "drafts",
    "prompt",
    "answering",
)
# As the sheets in static/css/ write it.
_POINTS_TO = re.compile(r'url\("\.\./([^"]+)"\)')
_HASHED = re.compile(r"(?P<name>.+)\.(?P<hash>[0-9a-f]{12})(?P<kind>\.[a-z0-9]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asset:
    """`bodies` by encoding; "" has the uncompressed bytes."""

    kind: str
    hash: str
    bodies: Mapping[str, bytes]


def _sheets() -> bytes:
    """Of Tabler's sheet only what pages of ours use."""
    tabler = needed(_read(TABLER).decode(), *written_in_pages())
    return b"\n".join([tabler.encode(), *(_read(name) for name in SHEETS[1:])])


def _libraries() -> bytes:
    """Classic scripts, in the order in which they need each other."""
    return b";\n".join(_read(name) for name in LIBRARIES)


def _scripts() -> bytes:
    """Our own scripts. They import nothing; a block around each keeps its names apart, as in a module."""
    return b"".join(b"{\n%s}\n" % _read(f"js/{name}.js") for name in SCRIPTS)


BUNDLES: Mapping[str, Callable[[], bytes]] = {
    "muster.css": _sheets,
    "libraries.js": _libraries,
    "muster.js": _scripts,
    "icons.svg": sprite,
}


def address(name: str) -> str:
    """The permanent address of a file of static/, or of a bundle. Raises NotFound."""
    stem, dot, kind = name.rpartition(".")
    return f"/static/{stem}.{asset(name).hash}{dot}{kind}"


@cache
def asset(name: str) -> Asset:
    """A file of static/, or a bundle. Raises NotFound."""
    body = BUNDLES[name]() if name in BUNDLES else _read(name)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(kind, hashlib.sha256(body).hexdigest()[:12], {"": body, **_encoded(kind, body)})


def _encoded(kind: str, body: bytes) -> dict[str, bytes]:
    if len(body) < SMALLEST or not is_text(200, [(b"content-type", kind.encode())]):
        return {}
    return {"br": brotli.compress(body, quality=BROTLI_QUALITY), "gzip": zlib.compress(body, 9, GZIP)}


def _read(name: str) -> bytes:
    """Accepts only one spelling of each name, so that the cache does not grow with the requests."""
    path = STATIC / name
    try:
        is_there = path.resolve() == path and path.is_relative_to(STATIC) and path.is_file()
    except (ValueError, OSError):  # A null, or a name that no file can have.
        is_there = False
    if not is_there or str(path.relative_to(STATIC)) != name:
        raise NotFound("There is no such file.")
    return _sheet(path.read_text()).encode() if path.parent == STATIC / "css" else path.read_bytes()


def _sheet(css: str) -> str:
    """The sheet in one line; what it refers to in static/ gets its permanent address."""
    return _POINTS_TO.sub(lambda found: f'url("{address(found[1])}")', packed(css))


@get("/static/{file_path:path}", include_in_schema=False, sync_to_thread=False)
def static_file(request: Request[Any, Any, Any], file_path: FromPath[str]) -> Response[bytes]:
    """A name without a hash, or with an outdated one, returns the present file, which a browser asks for again."""
    name, hashed = named(file_path.lstrip("/"))
    found = asset(name)
    encoding = chosen(request.headers.get("accept-encoding", "")) or ""
    body = found.bodies.get(encoding)
    encoding, body = (encoding, body) if body is not None else ("", found.bodies[""])
    tag = f'"{found.hash}{"-" if encoding else ""}{encoding}"'
    headers = {"ETag": tag, "Cache-Control": FOR_EVER if hashed == found.hash else ASK_AGAIN}
    if len(found.bodies) > 1:
        headers["Vary"] = "Accept-Encoding"
    if _has(request.headers.get("if-none-match", ""), tag):
        return Response(b"", status_code=304, headers=headers)
    if encoding:
        headers["Content-Encoding"] = encoding
    return Response(body, media_type=found.kind, headers=headers)


def named(path: str) -> tuple[str, str]:
    """The name of the file in an address, and the hash in it, "" if there is none."""
    found = _HASHED.fullmatch(path)
    return (found["name"] + found["kind"], found["hash"]) if found else (path, "")


def _has(known: str, tag: str) -> bool:
    """True when If-None-Match names the tag, compared weakly (RFC 9110, 13.1.2)."""
    tags = {one.strip().removeprefix("W/") for one in known.split(",")}
    return tag in tags or "*" in tags
