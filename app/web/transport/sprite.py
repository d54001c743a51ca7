"""Builds one picture of all icons from the vendored files; each is in it under its name.

A page names an icon in 60 bytes instead of drawing it in 500, and the browser keeps the drawings for ever.
"""

import re
from collections.abc import Iterator

from app.vendor import FILLED_ICONS, ICONS, PACKAGES

FOLDER = next(package.folder for package in PACKAGES if package.name == "@tabler/icons") / "icons"
NAMES = (*ICONS, *(f"filled/{name}" for name in FILLED_ICONS))
# The id of an icon in the picture.
SYMBOLS = {name: name.replace("/", "-") for name in NAMES}
_DRAWING = re.compile(r"<svg.*?>(.*)</svg>", re.DOTALL)
# Gives an icon its size in drawing programs; browsers do not need it.
_FRAME = '<path stroke="none" d="M0 0h24v24H0z" fill="none"/>'


def sprite() -> bytes:
    """Only the lines: their width and colours are set where an icon is used (`.icon` in static/css/muster.css)."""
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(_symbols())}</svg>'.encode()


def _symbols() -> Iterator[str]:
    for name, symbol in SYMBOLS.items():
        yield f'<symbol id="{symbol}" viewBox="0 0 24 24">{_drawing(name)}</symbol>'


def _drawing(name: str) -> str:
    family, _, stem = name.rpartition("/")
    text = (FOLDER / (family or "outline") / f"{stem}.svg").read_text(encoding="utf-8")
    found = _DRAWING.search(" ".join(text.split()).replace("> <", "><").replace(" />", "/>"))
    assert found, name  # noqa: S101 - the vendored files are as published, and a test reads them all
    return found[1].strip().replace(_FRAME, "")
