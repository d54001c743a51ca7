"""Small elements that every page uses: icons, states and instants. Templates call them as `icon(…)`, `badge(…)` and
`value | time_at(zone)`.

They are functions, because two hundred rows show the same few badges, and a macro would write each of them again.
"""

from datetime import UTC, datetime
from functools import cache, lru_cache

from markupsafe import Markup, escape

from app.dates import PageZone
from app.languages import direction
from app.web.formats import ago
from app.web.transport.assets import address
from app.web.transport.sprite import SYMBOLS

# A time that names its zone itself, so the page need not.
IN_UTC = '<time class="utc"'
NONE = Markup('<span class="none">–</span>')


class UnknownIcon(LookupError):
    """A template names an icon that is not among the vendored files."""


@cache
def icon(name: str, label: str = "", extra: str = "") -> Markup:
    """SVG of an icon of the sprite (app.web.transport.sprite); `static/icons.txt` lists all icons. Screen readers skip
    it unless it has a `label`, which an icon that stands alone needs.

    `name` may begin with `filled/`; `extra` is added to the element's classes. Raises UnknownIcon.
    """
    if name not in SYMBOLS:
        raise UnknownIcon(f"no vendored icon {name!r}; see static/icons.txt")
    said = Markup('role="img" aria-label="{}"').format(label) if label else Markup('aria-hidden="true"')
    kind = "icon icon-filled" if name.startswith("filled/") else "icon"
    return Markup('<svg class="{}" {}><use href="{}#{}"/></svg>').format(
        f"{kind} {extra}".strip(), said, address("icons.svg"), SYMBOLS[name]
    )


@lru_cache(maxsize=1024)
def badge(state: str, label: str | None = None, title: str = "", tone: str = "") -> Markup:
    """A state: `state` is the fixed word that decides the colour; when it is "", `tone` (ok, warn, bad, note) does.

    Without a `label` the word itself is shown, `auto_matched` as *Auto matched*.
    """
    colour = f' data-state="{escape(state)}"' if state else f' data-tone="{escape(tone)}"' if tone else ""
    hover = f' title="{escape(title)}"' if title else ""
    return Markup(f'<span class="badge"{colour}{hover}>{escape(label or state.replace("_", " ").capitalize())}</span>')  # noqa: S704 - all parts escaped


def new_tabs(message_html: str) -> Markup:
    """A sanitised message (`surveys/authoring/content.py`) as a page shows it: its links open in a new tab, so that
    no person loses what they typed. Stored messages do not say so."""
    return Markup(message_html.replace("<a href=", '<a target="_blank" href='))  # noqa: S704 - sanitised when it was stored


@lru_cache(maxsize=256)
def in_lang(tag: str) -> Markup:
    """The attributes of an element whose text is in that language. "" is an unknown language; then the letters decide
    the direction."""
    if not tag:
        return Markup(' dir="auto"')
    return Markup(f' lang="{escape(tag)}" dir="{direction(tag)}"')  # noqa: S704 - all parts escaped


def linked(text: object, url: str, *, may: bool = True) -> Markup:
    """`text`; as a link into the drawer when the person `may` open what it names."""
    return Markup(f'<a href="{escape(url)}" data-drawer>{escape(text)}</a>') if may else escape(text)  # noqa: S704 - all parts escaped


def time_as(value: datetime, text: str, title: str) -> Markup:
    """An instant in the words of `text`; the hover shows those of `title`."""
    return _time(value, text, title, "<time")


def time_at(value: datetime | None, zone: PageZone) -> Markup:
    """`Sun 22 Nov, 23:46`; the hover shows the exact time there and in UTC. A dash for none."""
    return NONE if value is None else time_as(value, zone.time(value), zone.exact(value))


def time_ago(value: datetime | None, now: datetime, zone: PageZone) -> Markup:
    """`5 min ago`; the hover shows the instant. A dash for none."""
    return NONE if value is None else time_as(value, ago(value, now), zone.exact(value))


def time_day(value: datetime | None, zone: PageZone) -> Markup:
    """`Sun 22 Nov`; the hover shows the instant. A dash for none."""
    return NONE if value is None else time_as(value, zone.day(value), zone.exact(value))


def time_utc(value: datetime | None, zone: PageZone) -> Markup:
    """`Sun 22 Nov, 22:46 UTC`, in any zone of the page; the hover shows the exact time. A dash for none."""
    return NONE if value is None else _time(value, zone.in_utc(value), zone.exact(value), IN_UTC)


def shows_times(html: str) -> bool:
    """True when the page shows a time in its own zone, or has a list, whose drawer shows times too."""
    return "<time datetime" in html or 'class="list-results"' in html


def _time(value: datetime, text: str, title: str, begin: str) -> Markup:
    at = value.astimezone(UTC).isoformat()[:19]
    return Markup(f'{begin} datetime="{at}Z" title="{escape(title)}">{escape(text)}</time>')  # noqa: S704 - all parts escaped
