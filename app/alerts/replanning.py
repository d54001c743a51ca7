"""Plans again the alerts of a person whose choices have changed."""

from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import schedule_looks
from app.alerts import people, timing, waiting
from app.alerts.rules import SILENT
from app.db.locks import hold_name
from app.db.session import workspace_of


async def plan_again(db: AsyncSession, user_id: int) -> None:
    """Plans by the rules of now. A problem that opened before the person chose to be told of it is not told."""
    await hold_name(db, "alerts")
    person = await people.reader(db, user_id)
    rules, now = person.rules if person else SILENT, datetime.now(UTC)
    rows = await waiting.of_person(db, user_id)
    await waiting.write(db, [replace(one, alert=timing.planned(rules, one.alert, now)) for one in rows])
    schedule_looks.look_soon(db, workspace_of(db))
