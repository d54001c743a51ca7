"""The Jinja environment: what every template may use. Values are formatted here, so that templates only place them."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2_fragments import render_block

from app.counting import percent
from app.web.icons import icon

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "static"
# From how many seconds on a distance is told in which unit, and how many seconds that has.
UNITS = (172_800, 86_400, "d"), (7_200, 3_600, "h"), (60, 60, "min")


@lru_cache(maxsize=1)
def environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(ROOT / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    env.globals.update(icon=icon, asset=asset, with_query=with_query)
    env.filters.update(
        instant=instant,
        local_instant=local_instant,
        day=day,
        clock=clock,
        number=number,
        ago=ago,
        duration=duration,
        percent_of=percent,
    )
    # Macros are globals: a block that is rendered alone sees no import of the page around it.
    for path in sorted((ROOT / "templates" / "components").glob("*.html")):
        if "{% macro" in path.read_text():
            env.globals[path.stem] = env.get_template(f"components/{path.name}").module
    return env


def render(template: str, **values: Any) -> str:
    return environment().get_template(template).render(values)


def render_fragment(template: str, block: str, **values: Any) -> str:
    """One block of a page's template; it sees only `values` and globals."""
    return render_block(environment(), template, block, values)


@lru_cache(maxsize=256)
def asset(path: str) -> str:
    """The address of a static file; our own ones carry their change time, so that browsers may keep them for ever."""
    if path.startswith("vendor/"):
        return f"/static/{path}"
    return f"/static/{path}?v={int((STATIC / path).stat().st_mtime):x}"


def with_query(url: str, query: Mapping[str, Any], **changes: Any) -> str:
    """`url` with `query` after `changes`; a change to None or "" removes the parameter."""
    merged = {name: value for name, value in {**query, **changes}.items() if value not in (None, "", [])}
    return f"{url}?{urlencode(merged, doseq=True)}" if merged else url


def instant(value: datetime | None, zone: str = "UTC") -> str:
    """`2026-11-21 08:00:05` in the given zone; an en dash for none."""
    return local_instant(value.astimezone(ZoneInfo(zone)) if value else None)


def local_instant(value: datetime | None) -> str:
    """A local time that has no zone of its own."""
    # Strftime takes twice as long, and a page of two hundred rows has a thousand of them.
    return value.isoformat(" ", "seconds")[:19] if value else "–"


def day(value: date | None) -> str:
    return value.strftime("%Y-%m-%d") if value else "–"


def clock(value: datetime | None, zone: str = "UTC") -> str:
    """Hours and minutes in the given zone."""
    return value.astimezone(ZoneInfo(zone)).strftime("%H:%M") if value else "–"


def number(value: float | None) -> str:
    """Thousands set apart by commas, as everywhere; an en dash for none."""
    return "–" if value is None else f"{value:,}"


def ago(value: datetime | None, now: datetime) -> str:
    """In one unit, the larger one from two of it on: `5 min ago`, `in 90 min`, `43 h ago`, `2 d ago`; an en dash for none."""
    if value is None:
        return "–"
    seconds = int(abs(now - value).total_seconds())
    size, unit = next(((size, unit) for least, size, unit in UNITS if seconds >= least), (1, "s"))
    gap = f"{seconds // size:,} {unit}"
    return f"in {gap}" if value > now else f"{gap} ago"


def duration(value: timedelta | float | None) -> str:
    """The two largest units of a span (seconds when a number): `2 d 3 h`, `8 h 05 min`, `12 s`."""
    if value is None:
        return "–"
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min" if minutes else f"{seconds} s"
