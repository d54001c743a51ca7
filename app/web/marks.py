"""The small elements that stand everywhere: icons, states and instants. Templates call them as `icon(…)`, `badge(…)` and
`value | time_at(zone)`.

They are functions: the same few badges stand in each of two hundred rows, and a macro would write each of them again.
"""

from datetime import UTC, datetime
from functools import cache, lru_cache

from markupsafe import Markup, escape

from app.dates import PageZone
from app.languages import direction
from app.web.formats import ago
from app.web.transport.assets import address
from app.web.transport.sprite import SYMBOLS

# A time that says its zone itself: the page need not.
IN_UTC = '<time class="utc"'
NONE = Markup('<span class="none">–</span>')


class UnknownIcon(LookupError):
    """A template names an icon that is not among the vendored files."""


@cache
def icon(name: str, label: str = "", extra: str = "") -> Markup:
    """SVG of an icon of the sprite (app.web.transport.sprite); `static/icons.txt` lists those there are. Silent for screen readers unless it has a `label` (an icon that stands alone needs one).

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
    """A state: `state` is the fixed word that decides the colour, "" where `tone` (ok, warn, bad, note) does.

    Without a `label` the word itself is shown, `auto_matched` as *Auto matched*.
    """
    colour = f' data-state="{escape(state)}"' if state else f' data-tone="{escape(tone)}"' if tone else ""
    hover = f' title="{escape(title)}"' if title else ""
    return Markup(f'<span class="badge"{colour}{hover}>{escape(label or state.replace("_", " ").capitalize())}</span>')  # noqa: S704 - all parts escaped


def new_tabs(message_html: str) -> Markup:
    """A sanitised message (`surveys/authoring/content.py`) as a page shows it: its links open in a new tab, so that nothing typed is
    lost. Stored messages do not say so.
    """
    return Markup(message_html.replace("<a href=", '<a target="_blank" href='))  # noqa: S704 - sanitised when it was stored


@lru_cache(maxsize=256)
def in_lang(tag: str) -> Markup:
    """The attributes of an element whose text is in that language; "" is a language that is not known, which its letters tell."""
    if not tag:
        return Markup(' dir="auto"')
    return Markup(f' lang="{escape(tag)}" dir="{direction(tag)}"')  # noqa: S704 - all parts escaped


def linked(text: object, url: str, *, may: bool = True) -> Markup:
    """`text`, and where the person `may` open what it names, as a link into the drawer."""
    return Markup(f'<a href="{escape(url)}" data-drawer>{escape(text)}</a>') if may else escape(text)  # noqa: S704 - all parts escaped


def time_as(value: datetime, text: str, title: str) -> Markup:
    """An instant in the words of `text`, and on hover in those of `title`."""
    return _time(value, text, title, "<time")


def time_at(value: datetime | None, zone: PageZone) -> Markup:
    """`Sun 22 Nov, 23:46`; on hover exactly, there and in UTC. A dash for none."""
    return NONE if value is None else time_as(value, zone.time(value), zone.exact(value))


def time_ago(value: datetime | None, now: datetime, zone: PageZone) -> Markup:
    """`5 min ago`; on hover the instant. A dash for none."""
    return NONE if value is None else time_as(value, ago(value, now), zone.exact(value))


def time_day(value: datetime | None, zone: PageZone) -> Markup:
    """`Sun 22 Nov`; on hover the instant. A dash for none."""
    return NONE if value is None else time_as(value, zone.day(value), zone.exact(value))


def time_utc(value: datetime | None, zone: PageZone) -> Markup:
    """`Sun 22 Nov, 22:46 UTC`, whatever the zone of the page; on hover exactly. A dash for none."""
    return NONE if value is None else _time(value, zone.in_utc(value), zone.exact(value), IN_UTC)


def shows_times(html: str) -> bool:
    """True when some time is told in the page's zone, or a list stands: what a list opens in its drawer shows times too."""
    return "<time datetime" in html or 'class="list-results"' in html


def _time(value: datetime, text: str, title: str, begin: str) -> Markup:
    at = value.astimezone(UTC).isoformat()[:19]
    return Markup(f'{begin} datetime="{at}Z" title="{escape(title)}">{escape(text)}</time>')  # noqa: S704 - all parts escaped
