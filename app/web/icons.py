"""Icons: `icon(name)` shows one of the sprite (app.web.transport.sprite). Which icons exist is said in `static/icons.txt`."""

from functools import cache

from markupsafe import Markup

from app.web.transport.assets import address
from app.web.transport.sprite import SYMBOLS


class UnknownIcon(LookupError):
    """A template names an icon that is not among the vendored files."""


@cache
def icon(name: str, label: str = "", extra: str = "") -> Markup:
    """SVG of an icon. Silent for screen readers unless it has a `label` (an icon that stands alone needs one).

    `name` may begin with `filled/`; `extra` is added to the element's classes. Raises UnknownIcon.
    """
    if name not in SYMBOLS:
        raise UnknownIcon(f"no vendored icon {name!r}; see static/icons.txt")
    said = Markup('role="img" aria-label="{}"').format(label) if label else Markup('aria-hidden="true"')
    kind = "icon icon-filled" if name.startswith("filled/") else "icon"
    return Markup('<svg class="{}" {}><use href="{}#{}"/></svg>').format(
        f"{kind} {extra}".strip(), said, address("icons.svg"), SYMBOLS[name]
    )
