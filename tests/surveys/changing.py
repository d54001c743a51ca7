"""Changes of agreements for tests: written straight to the ledger, with the evidence of the cast's browser."""

from typing import Any

from sqlalchemy import text

from app.db.direct import driver
from app.db.session import Database
from app.secrets import KeyRing
from app.surveys.ledger import chain, changes
from app.surveys.ledger.changes import Agreement, Change, Closing, RecordedChange
from app.surveys.ledger.entries import RecordedEntry
from app.surveys.ledger.evidence import Evidence
from tests.surveys.drafted import CONSENT, Stored, published
from tests.surveys.recording import AT, record

# The first agreement that may be given again, as the fields of an Agreement but its turns.
AGREED = text(
    "SELECT r.number, encode(r.row_hash, 'hex'), r.survey_id, s.uid, r.version, r.user_id FROM survey_responses r"
    " JOIN surveys s ON s.id = r.survey_id AND s.version = r.version AND s.status = 'published'"
    " WHERE r.outcome = 'agreed' ORDER BY r.number LIMIT 1"
)
HEARD = Evidence(ip="198.51.100.9", browser="Chromium")


async def badges(database: Database, workspace: str = "main", **fields: Any) -> Stored:
    """A published survey that asks for an agreement."""
    async with database.transaction(workspace) as db:
        return await published(db, title="Badges", type="consent", questions=[CONSENT], **fields)


async def agree(database: Database, keys: KeyRing, survey: Stored, user_id: int, **changed: Any) -> Agreement:
    """Their agreement, as the ledger has it."""
    said = await record(database, keys, survey, user_id, None, outcome="agreed", **changed)
    return agreement(survey, said, user_id)


def agreement(survey: Stored, said: RecordedEntry, person: int, turns: int = 0) -> Agreement:
    return Agreement(said.number, said.receipt, survey.id, survey.uid, survey.version, person, turns)


async def change(
    database: Database, keys: KeyRing, agreed: Agreement, evidence: Evidence = HEARD, workspace: str = "main"
) -> RecordedChange | None:
    """The next change of it, in a transaction of its own."""
    async with database.transaction(workspace) as db:
        told = Change(agreed, "web", AT, evidence)
        return await changes.write(driver(db), workspace, keys, told)


async def close(database: Database, survey: Stored, ballots: int = 0) -> RecordedChange:
    """Of a version that came to nothing."""
    results = chain.results_hash(())
    async with database.transaction(survey.workspace) as db:
        return await changes.close(db, Closing(survey.id, survey.uid, survey.version, ballots, results, AT))
