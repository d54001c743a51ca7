"""The tables of answers to anonymous surveys. No query here.

The ledger has a row without answers for each person who took part. The answers are on a sealed ballot until the version
closes, then in a result.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Id
from app.surveys.models.marks import APPEND_ONLY


class BallotKey(Base):
    """The key of the ballots of one anonymous version, sealed with the key ring, and destroyed (null) when the version
    closes. A version without a row has no answer yet; a version whose key was destroyed takes no answer."""

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
    """What one person answered to an anonymous version that is still open: sealed, padded, with a random id. It has no
    person and no time, and is deleted when the version closes."""

    __tablename__ = "survey_ballots"
    __table_args__ = (Index(None, "survey_id", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id"))
    version: Mapped[int]
    sealed: Mapped[str]


class AnonymousResult(Base):
    """A result of an anonymous version, written once when it closed: so many people of a group gave this answer to this
    question.

    `choice` is as in Answer, but holds a free text itself; a row with choice '' counts the people who answered the
    question at all. `grouped` is null when answers have no group, and '' for people of an unknown group; `joined` marks
    small groups that were joined.
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
