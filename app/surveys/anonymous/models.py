"""The tables of what was answered to anonymous surveys. No query lives here.

Who took part is a row of the ledger without answers. What was answered is a sealed ballot until the version closes, then a result.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Id
from app.surveys.models import APPEND_ONLY


class BallotKey(Base):
    """The key of the ballots of one anonymous version, sealed by the key ring; destroyed (null) when the version closes. A version without
    a row was not answered yet; one whose key was destroyed takes no answer."""

    __tablename__ = "survey_ballot_keys"
    __table_args__ = (
        UniqueConstraint("survey_id", "version"),
        CheckConstraint("(sealed_key IS NULL) = (destroyed_at IS NOT NULL)", name="destroyed"),
    )

    id: Mapped[Id]
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id"))
    version: Mapped[int]
    sealed_key: Mapped[str | None]
    destroyed_at: Mapped[datetime | None]


class SealedBallot(Base):
    """What one person answered to an anonymous version that is still open: sealed, padded, with a random id. It has no person and no time,
    and is deleted when the version closes."""

    __tablename__ = "survey_ballots"
    __table_args__ = (Index(None, "survey_id", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id"))
    version: Mapped[int]
    sealed: Mapped[str]


class AnonymousResult(Base):
    """What an anonymous version came to, written once when it closed: so many people of a group gave this answer to this question.

    `choice` is as in Answer, but the text itself of a free text; a row with choice '' counts the people who answered the question.
    `grouped` is null where answers have no group, and '' for people of no known one; `joined` says that small groups stand together.
    """

    __tablename__ = "survey_results"
    __table_args__ = (Index(None, "survey_id", "version"), APPEND_ONLY)

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=func.gen_random_uuid())
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id"))
    version: Mapped[int]
    question_key: Mapped[UUID]
    grouped: Mapped[str | None]
    joined: Mapped[bool]
    choice: Mapped[str]
    people: Mapped[int]
