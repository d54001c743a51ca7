"""Makes the ledger's entry of a planned answer."""

from datetime import UTC
from uuid import UUID

from app.surveys.authoring.stored import Stored
from app.surveys.demo import plan
from app.surveys.demo.plan import PlannedAnswer
from app.surveys.ledger.answers import Answered
from app.surveys.ledger.entries import Entry

BROWSER = "Demo browser"


def of(stored: Stored, what: PlannedAnswer, user_id: int) -> Entry:
    """What this account of the demo answered to a published survey."""
    if stored.wording_id is None or what.at is None:
        raise RuntimeError("only a published survey is answered")
    return Entry(
        survey_id=stored.id,
        survey=stored.uid,
        version=stored.version,
        wording_id=stored.wording_id,
        content_hash=stored.content_hash,
        user_id=user_id,
        outcome=what.outcome or "",
        source="demo",
        answers=tuple(
            Answered(question.key or UUID(int=0), value)
            for question, value in zip(stored.questions, what.values, strict=False)
            if value not in (None, ())
        ),
        ip=f"192.0.2.{1 + user_id % 250}",
        browser=BROWSER,
        recorded_at=what.at.astimezone(UTC),
        shown="first" if what.shown_at else "not_handed_out",
        language=plan.language(what.person) if stored.definition.translations else None,
    )
