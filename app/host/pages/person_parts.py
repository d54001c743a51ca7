"""What a person's page shows beside the person: the account and the records of the host, and what other modules know.

Each part is shown only to people who may open it on its own page.
"""

from sqlalchemy import select

from app.accounts.models import User
from app.host.attendance import queries
from app.host.pages.attendance_list import worked
from app.web.context import Context
from app.web.site import KnownPerson, Part, PersonSource


async def of(ctx: Context, person: KnownPerson) -> list[Part]:
    """In the order of the page."""
    return [part for source in _sources if (part := await source(ctx, person))]


def offer(source: PersonSource) -> None:
    """Adds a source once; a second time changes nothing. Called by app.wiring."""
    if source not in _sources:
        _sources.append(source)


async def account(ctx: Context, person: KnownPerson) -> Part | None:
    if person.user_id is None or not ctx.may("admin.users"):
        return None
    columns = (User.id, User.name, User.email, User.active, User.last_sign_in_at)
    found = (await ctx.db.execute(select(*columns).where(User.id == person.user_id))).one_or_none()
    if found is None:
        return None
    return Part("Account", "host/person_account.html", {"account": found})


async def records(ctx: Context, person: KnownPerson) -> Part | None:
    if not ctx.may("host.attendance"):
        return None
    months = (await ctx.db.execute(queries.by_month(person.employee_id))).all()
    rows = [{"month": row.month, "last": row.last, "found": row, "worked": worked(row.worked_s)} for row in months]
    return Part("Attendance", "host/person_records.html", {"months": rows, "url": _url(person)})


def _url(person: KnownPerson) -> str:
    return f"/attendance/people/{person.employee_id}"


_sources: list[PersonSource] = [account, records]
