"""People of the demo who withdraw an agreement: rows of the ledger like all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import driver
from app.db.session import workspace_of
from app.secrets import KeyRing
from app.surveys.ledger import changes
from app.surveys.ledger.changes import Agreement, Change
from app.surveys.ledger.evidence import Evidence
from app.surveys.models import Response


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Withdraws the response of this number, at that moment."""

    survey: UUID
    number: int
    at: datetime


async def write(db: AsyncSession, keys: KeyRing, wanted: Sequence[Withdrawal]) -> None:
    """Writes them in this order, at the end of the chain."""
    for one in wanted:
        row = (await db.scalars(select(Response).where(Response.number == one.number))).one()
        receipt = row.row_hash.hex()
        agreement = Agreement(row.number, receipt, row.survey_id, one.survey, row.version, row.person, turns=0)
        made = await changes.write(driver(db), workspace_of(db), keys, Change(agreement, "demo", one.at, Evidence()))
        if made is None:
            raise RuntimeError("an agreement of the demo is withdrawn once")
