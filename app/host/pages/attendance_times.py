"""Which instants the times in the form of a record mean. A time that is still as the form showed it keeps its instant:
it may be in the second of two equal hours in autumn, or have a fraction of a second."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.host import zone
from app.host.attendance.hours import MOST_BREAKS, YEARS, Hours

# By the name of the field.
Instants = Mapping[str, datetime]
BREAK_ENDS = tuple(f"break_{at}_{end}" for at in range(1, MOST_BREAKS + 1) for end in ("out", "back"))
# A hidden field has the name of the time that it belongs to, and this.
HIDDEN = "_at"


def of_record(record: Any) -> Instants:
    hours = Hours.of(record)
    ends = {"clock_in": hours.clock_in} | ({"clock_out": hours.clock_out} if hours.clock_out else {})
    return ends | dict(zip(BREAK_ENDS, (one for pause in hours.breaks for one in pause), strict=False))


def given(values: Mapping[str, Any], where: ZoneInfo, after_name: str = "") -> Instants:
    """The instants in an address, or in the hidden fields of a form. A time without an offset is one of the zone."""
    read = {
        name: _read(str(values.get(name + after_name, "")), where) for name in ("clock_in", "clock_out", *BREAK_ENDS)
    }
    return {name: at for name, at in read.items() if at is not None}


def shown(instants: Instants, where: ZoneInfo) -> dict[str, datetime]:
    return {name: _as_shown(at, where) for name, at in instants.items()}


def meant(name: str, typed: datetime, known: Instants, where: ZoneInfo) -> datetime:
    """The instant of a time that a person left as it was, or typed. `known` are those that the form showed."""
    at = known.get(name)
    return at if at is not None and _as_shown(at, where) == typed else zone.to_utc(typed, where)


def _read(text: str, where: ZoneInfo) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.year not in YEARS:
        return None
    return at if at.tzinfo else zone.to_utc(at, where)


def _as_shown(instant: datetime, where: ZoneInfo) -> datetime:
    return zone.to_local(instant, where).replace(microsecond=0)
