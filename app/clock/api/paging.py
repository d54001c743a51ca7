"""The cursors of the clock's integration API, and pages of the lists that are not in the order of ids."""

from dataclasses import replace
from datetime import date, datetime
from functools import partial

from sqlalchemy.ext.asyncio import AsyncSession

from app.api.envelope import Id, Meta
from app.api.paging import ApiList, Rows, page_of, page_of_many
from app.api.parameters import Moment, Paged
from app.clock.punches import queries
from app.clock.punches.punch_filter import PunchFilter
from app.host.attendance.feed import AttendanceFilter, feed
from app.host.models import AttendanceRecord

EMPLOYEES = ApiList("employees", {"id": Id})
BINDINGS = ApiList("bindings", {"id": Id})
RUNS = ApiList("sync-runs", {"id": Id}, newest_first=True, can_be_followed=False)
ATTENDANCE = ApiList("attendance", {"id": Id})
PUNCHES = ApiList("transactions", {"local_date": date, "punched_at_utc": Moment, "id": Id}, newest_first=True)


async def page_of_punches(db: AsyncSession, asked: Paged, wanted: PunchFilter) -> tuple[Rows, Meta]:
    """The instant from which the client continues is read before the renamed people and the rows. So a name that
    changes in between is in this answer and in the next."""

    async def numbered(page: int) -> tuple[Rows, int]:
        found = await queries.punch_page(db, await _with_renamed(db, wanted), page=page, per_page=asked.per_page)
        return found.rows, found.total

    async def behind(keys: tuple[date, datetime, int]) -> Rows:
        return await queries.punches_after(db, await _with_renamed(db, wanted), keys, per_page=asked.per_page)

    return await page_of(db, asked, PUNCHES, numbered, behind)


async def page_of_attendance(db: AsyncSession, asked: Paged, wanted: AttendanceFilter) -> tuple[Rows, Meta]:
    """In the order of ids. Reads renamed people and locked days together with the rows, as for punches."""
    return await page_of_many(db, asked, ATTENDANCE, partial(feed, db, wanted), AttendanceRecord.id)


async def _with_renamed(db: AsyncSession, wanted: PunchFilter) -> PunchFilter:
    if wanted.updated_since is None:
        return wanted
    return replace(wanted, renamed=await queries.renamed_since(db, wanted.updated_since))
