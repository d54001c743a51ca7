"""The invented people of SurveysDemo: accounts that answer and rate. Makes them, and removes
unused ones.

When somebody uses such an account, it becomes a person's account: it is kept, and no later seed answers for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, exists, func, not_, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import ApiToken, OneTimeLink, Session, User, UserRole
from app.db.session import PLATFORM, workspace_of
from app.host.models import AppRating, Employee
from app.surveys.demo import cast as demo_cast
from app.surveys.demo.cast import DemoPerson
from app.surveys.models import LedgerPerson, Response

# The default: enough for a thousand answers.
CROWD = {True: 240, False: 40}
MOST = max(CROWD.values())
_OWNED = (ApiToken.user_id, OneTimeLink.user_id, Session.user_id, UserRole.user_id, Employee.user_id)
_USED = or_(
    User.active,
    User.password_hash.is_not(None),
    User.last_sign_in_at.is_not(None),
    *(exists().where(owner == User.id) for owner in _OWNED),
    exists().where(Response.person == LedgerPerson.number, LedgerPerson.user_id == User.id, Response.source != "demo"),
    exists().where(AppRating.user_id == User.id, not_(AppRating.demo)),
)


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """`waits`: a person who signs in, and to whom the newest survey is left."""

    id: int
    email: str
    kind: str
    waits: bool


async def missing(db: AsyncSession, crowd: int | None) -> tuple[DemoPerson, ...]:
    """The people that a seed would invent here."""
    here = workspace_of(db)
    wanted = demo_cast.people(CROWD[here == PLATFORM] if crowd is None else crowd, here)
    known = set(await db.scalars(select(User.email).where(_invented(here))))
    return tuple(one for one in wanted if one.email not in known)


async def make(db: AsyncSession, wanted: Sequence[DemoPerson]) -> None:
    """Accounts without a sign-in."""
    rows = [
        {"workspace": workspace_of(db), "email": one.email, "name": one.name, "type": one.kind, "active": False}
        for one in wanted
    ]
    if rows:
        await db.execute(insert(User).on_conflict_do_nothing(), rows)


async def accounts(db: AsyncSession, cast: Sequence[str]) -> list[DemoAccount]:
    """The accounts that answer: the invented people, and those of `cast` (e-mail addresses) who sign in."""
    here = workspace_of(db)
    ours = or_(and_(_invented(here), not_(_USED)), User.email.in_(cast))
    found = select(User.id, User.email, User.type).where(User.workspace == here, ours).order_by(User.id)
    return [DemoAccount(*row, row.email in cast) for row in await db.execute(found)]


async def leaving(db: AsyncSession) -> tuple[int, tuple[str, ...]]:
    """What `remove` would do: how many accounts it deletes, and the e-mail addresses of those that it keeps."""
    here = workspace_of(db)
    going = select(func.count()).select_from(User).where(_invented(here), not_(_USED))
    kept = select(User.email).where(_invented(here), _USED).order_by(User.email)
    return await db.scalar(going) or 0, tuple(await db.scalars(kept))


async def remove(db: AsyncSession) -> int:
    """Deletes the accounts that were never used, and returns how many. The ledger still names them by their numbers."""
    gone = delete(User).where(_invented(workspace_of(db)), not_(_USED))
    return len((await db.execute(gone.returning(User.id).execution_options(synchronize_session=False))).all())


def _invented(workspace: str) -> ColumnElement[bool]:
    emails = [one.email for one in demo_cast.people(MOST, workspace)]
    return and_(User.workspace == workspace, User.email.in_(emails))
