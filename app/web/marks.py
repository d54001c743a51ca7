"""The small elements that stand everywhere: states and instants. Templates call them as `badge(…)` and `value | time_at(zone)`.

Functions, as `icon` is: the same few badges stand in each of two hundred rows, and a macro would write each of them again.
"""

from datetime import datetime
from functools import lru_cache

from markupsafe import Markup, escape

from app.web.formats import ago, day, instant

NONE = Markup('<span class="none">–</span>')


@lru_cache(maxsize=1024)
def badge(state: str, label: str | None = None, title: str = "", tone: str = "") -> Markup:
    """A state: `state` is the fixed word that decides the colour, "" where `tone` (ok, warn, bad, note) does.

    Without a `label` the word itself is shown, `auto_matched` as *Auto matched*.
    """
    colour = f' data-state="{escape(state)}"' if state else f' data-tone="{escape(tone)}"' if tone else ""
    hover = f' title="{escape(title)}"' if title else ""
    return Markup(f'<span class="badge"{colour}{hover}>{escape(label or state.replace("_", " ").capitalize())}</span>')  # noqa: S704 - all parts escaped


def linked(text: object, url: str, *, may: bool = True) -> Markup:
    """`text`, and where the person `may` open what it names, as a link into the drawer."""
    return Markup(f'<a href="{escape(url)}" data-drawer>{escape(text)}</a>') if may else escape(text)  # noqa: S704 - all parts escaped


def time_as(value: datetime, text: str, title: str = "") -> Markup:
    """An instant in the words of `text`; `title` shows on hover."""
    hover = f' title="{escape(title)}"' if title else ""
    return Markup(f'<time datetime="{value.isoformat()}"{hover}>{escape(text)}</time>')  # noqa: S704 - all parts escaped


def time_at(value: datetime | None, zone: str = "UTC") -> Markup:
    """`2026-11-21 08:00:05` in the given zone; on hover the zone, and the same in UTC. A dash for none."""
    if value is None:
        return NONE
    return time_as(value, instant(value, zone), zone if zone == "UTC" else f"{zone} · {instant(value)} UTC")


def time_ago(value: datetime | None, now: datetime, zone: str = "UTC") -> Markup:
    """`5 min ago`; on hover the instant in the given zone. A dash for none."""
    return NONE if value is None else time_as(value, ago(value, now), f"{instant(value, zone)} {zone}")


def time_day(value: datetime | None) -> Markup:
    """`2026-11-21`; on hover the instant in UTC. A dash for none."""
    return NONE if value is None else time_as(value, day(value), f"{instant(value)} UTC")
