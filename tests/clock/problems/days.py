"""Punches that lie in the mirror with an outcome, as an import left them."""

from datetime import datetime
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Punch
from app.clock.punches.daily_totals import mark_stale


async def stay(db: AsyncSession, code: str, outcome: str, at: datetime, *, sn: str = "T1", **more: Any) -> None:
    local = at.replace(tzinfo=None)
    values = {
        "id_generation": 1, "remote_id": f"{code} {outcome} {at}", "emp_code": code, "terminal_sn": sn, "punch_code": 0,
        "punched_at_raw": str(local), "punched_at_local": local, "punched_at_utc": at, "local_date": local.date(),
        "import_outcome": outcome, "judge_at": None, **more,
    }  # fmt: skip
    await db.execute(insert(Punch).values(values))
    await mark_stale(db, [local.date()])
