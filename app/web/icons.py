"""Icons: `icon(name)` inlines a vendored SVG file into a page. Which icons exist is said in `static/icons.txt`."""

from functools import cache

from markupsafe import Markup, escape

from app.vendor import PACKAGES

FOLDER = next(package.folder for package in PACKAGES if package.name == "@tabler/icons") / "icons"


class UnknownIcon(LookupError):
    """A template names an icon that is not among the vendored files."""


@cache
def icon(name: str, label: str = "", extra: str = "") -> Markup:
    """SVG of an icon. Silent for screen readers unless it has a `label` (an icon that stands alone needs one).

    `name` may begin with `filled/`; `extra` is added to the element's classes. Raises UnknownIcon.
    """
    family, _, stem = name.rpartition("/")
    try:
        text = (FOLDER / (family or "outline") / f"{stem}.svg").read_text(encoding="utf-8")
    except FileNotFoundError as missing:
        raise UnknownIcon(f"no vendored icon {name!r}; see static/icons.txt") from missing
    said = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    svg = " ".join(text.split()).replace("> <", "><").replace("<svg", f"<svg {said}", 1)
    return Markup(svg.replace('class="icon ', f'class="icon {escape(extra)} '.replace("  ", " "), 1))  # noqa: S704 - our own files, label escaped
