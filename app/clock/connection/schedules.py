"""One person's schedule of a week, read from the server when somebody looks.
It is never stored; the import does not use it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from app.clock.connection import saved as connection
from app.clock.parsing import ParsedShift, Parser
from app.errors import NotFound
from app.outbound import Log
from app.parts import Parts

RESOURCE = "schedules"


@dataclass(frozen=True, slots=True)
class Week:
    """Monday to Sunday, local dates of the connection's zone. `unread` rows were not in a shape that we know."""

    monday: date
    shifts: Sequence[ParsedShift]
    unread: int

    @property
    def days(self) -> list[tuple[date, list[ParsedShift]]]:
        """Every day of the week with its shifts in order."""
        dates = [self.monday + timedelta(days=number) for number in range(7)]
        return [(day, [one for one in self.shifts if one.day == day]) for day in dates]


async def this_week(parts: Parts, workspace: str, emp_code: str, log: Log, now: datetime) -> Week:
    """The week that `now` is in. Asks the server, so call it while no transaction is open. Raises NotFound where this
    kind of server has no schedules, ClockError when it fails."""
    async with parts.database.transaction(workspace) as db:
        found = await connection.required(db)
    profile, zone = connection.profile_of(found), ZoneInfo(found.timezone)
    if not profile.offers(RESOURCE):
        raise NotFound("This kind of server has no schedules.")
    remote = connection.open_remote(parts, workspace, found, log)
    today = now.astimezone(zone).date()
    monday = today - timedelta(days=today.weekday())
    rows = await remote.schedules(emp_code, monday, monday + timedelta(days=6))
    parsed = Parser(profile, zone, remote.redactor).shifts(rows)
    shifts = sorted(parsed.rows, key=lambda one: (one.day, one.starts_at or datetime.min))  # noqa: DTZ901 - naive local
    return Week(monday, shifts, len(parsed.set_aside))
