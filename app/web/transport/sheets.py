"""The style sheets as browsers get them: without comments, line breaks and the spaces that only people need."""

import re
from email.utils import formatdate
from functools import lru_cache
from pathlib import Path

from litestar import Response, get
from litestar.params import FromPath

from app.errors import NotFound

FOLDER = Path(__file__).parents[3] / "static" / "css"
# Strings stay as they are; a comment may hold a quotation mark, so both are found in one pass.
_TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<comment>/\*.*?\*/)|(?P<space>\s+)""", re.DOTALL
)
# The space before a colon stays: in `.a :hover` it means a descendant.
_NEEDLESS = re.compile(r" ?([{};,]) ?|(?<=:) ")


def packed(css: str) -> str:
    """The same rules in one line."""
    parts: list[str] = []
    strings: list[str] = []
    at = 0
    for found in _TOKEN.finditer(css):
        parts.append(css[at : found.start()])
        at = found.end()
        if found["string"]:
            strings.append(found["string"])
            parts.append('""')
        else:
            parts.append(" ")
    text = re.sub(r" +", " ", "".join([*parts, css[at:]])).strip()
    text = _NEEDLESS.sub(lambda one: one[1] or "", text).replace(";}", "}")
    kept = iter(strings)
    return re.sub('""', lambda _: next(kept), text)


@lru_cache(maxsize=32)
def _sent(path: Path, _changed_at: float) -> bytes:
    return packed(path.read_text()).encode()


@get("/static/css/{name:str}", media_type="text/css", include_in_schema=False, sync_to_thread=False)
def sheet(name: FromPath[str]) -> Response[bytes]:
    path = FOLDER / name
    if path.parent != FOLDER or path.suffix != ".css" or not path.is_file():
        raise NotFound("There is no such style sheet.")
    changed_at = path.stat().st_mtime
    sent = {"last-modified": formatdate(changed_at, usegmt=True)}
    return Response(_sent(path, changed_at), media_type="text/css", headers=sent)
