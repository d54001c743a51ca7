"""What a job that still runs does when its tenant is deactivated: it drops nothing."""

from datetime import UTC, datetime

from sqlalchemy import text

from app.accounts import tenants
from app.accounts.audit import SYSTEM
from app.alerts import telling
from app.parts import Parts
from app.surveys.reminding import handing_over
from tests.host.signing_in import user_id_of
from tests.surveys.drafted import published

INVITED = "INSERT INTO survey_invitations (survey_id, version, user_id, turn, asked_by, due_at) VALUES (:survey, 1, :eve, 0, 'Eve', now())"


async def set_active(parts: Parts, *, active: bool) -> None:
    async with parts.database.transaction() as db:
        await (tenants.activate if active else tenants.deactivate)(db, SYSTEM, "globex")


async def left(parts: Parts, what: str) -> int:
    async with parts.database.transaction("globex") as db:
        found: int = (await db.execute(text(f"SELECT count(*) FROM {what}"))).scalar_one()
        return found


async def test_waiting_invitations_stay(parts: Parts) -> None:
    waiting = "survey_invitations WHERE sent_at IS NULL AND dropped_at IS NULL"
    eve = await user_id_of(parts.database, "eve")
    async with parts.database.transaction("globex") as db:
        survey = await published(db, title="Here")
        await db.execute(text(INVITED), {"survey": survey.id, "eve": eve})
    for active in (False, True):
        await set_active(parts, active=active)
        async with parts.database.transaction("globex") as db:
            assert await handing_over.hand_over(db, parts, datetime.now(UTC)) == active
        assert await left(parts, waiting) == (not active)


async def test_news_of_problems_stay(parts: Parts) -> None:
    async with parts.database.transaction("globex") as db:
        await db.execute(text("INSERT INTO alert_news (opened, closed, quiet) VALUES ('{1}', '{}', false)"))
    for active in (False, True):
        await set_active(parts, active=active)
        await telling.tell(parts, "globex")
        assert await left(parts, "alert_news") == (not active)
