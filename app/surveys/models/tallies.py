"""Figures that are counted from the ledger, and can be counted again."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, SmallInteger, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.surveys.models.marks import ONE_ROW

# In a tally in place of a question: the row counts whole responses.
WHOLE = UUID(int=0)
IS_WHOLE = text(f"question_key = '{WHOLE}'::uuid")
IS_ANSWERED = text(f"choice = '' AND question_key <> '{WHOLE}'::uuid")


class Tally(Base):
    """Counted responses up to the ledger number in `survey_tally_mark`, per survey, version, UTC day, outcome, question
    and choice. A withdrawn agreement counts under the outcome `withdrawn`, on the day of the agreement. Rows of the
    whole response have the nil question and choice ''. What came after the mark is counted live.

    Rows with the outcome `asked` count people by the day of their first impression, up to the mark's instant.
    """

    __tablename__ = "survey_tallies"
    __table_args__ = (
        Index(
            "survey_tallies_whole",
            "survey_id",
            "version",
            "day",
            "outcome",
            postgresql_include=["people", "unprompted"],
            postgresql_where=IS_WHOLE,
        ),
        Index(
            "survey_tallies_days",
            "day",
            "outcome",
            postgresql_include=["people"],
            postgresql_where=IS_WHOLE,
        ),
        # Some questions of a version, without those that have very many different answers.
        Index("survey_tallies_questions", "survey_id", "version", "question_key", "day", "outcome"),
        Index(
            "survey_tallies_answered",
            "survey_id",
            "version",
            "question_key",
            "day",
            "outcome",
            postgresql_include=["people"],
            postgresql_where=IS_ANSWERED,
        ),
    )

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    outcome: Mapped[str] = mapped_column(primary_key=True)
    question_key: Mapped[UUID] = mapped_column(primary_key=True)
    choice: Mapped[str] = mapped_column(primary_key=True)
    people: Mapped[int]
    unprompted: Mapped[int] = mapped_column(server_default="0")


class TallyMark(Base):
    """Up to which ledger number `survey_tallies` counts responses, up to which one it counts their changes
    (`changes_number`, never the larger one), and up to which instant first impressions (`id` is always 1).

    There are two numbers, because a worker of the version before moves the first one past changes that it does not
    know.
    """

    __tablename__ = "survey_tally_mark"
    __table_args__ = (CheckConstraint("id = 1", name="single"), ONE_ROW)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, server_default="1", autoincrement=False)
    number: Mapped[int] = mapped_column(server_default="0")
    changes_number: Mapped[int] = mapped_column(server_default="0")
    shown_until: Mapped[datetime] = mapped_column(server_default=text("'1970-01-01T00:00:00Z'"))


class KeptSplit(Base):
    """The answers to one version by groups of people, as app.surveys.results.splits counted them in the background at
    `counted_at`: `people` per group, question and choice, and `middles`, means and medians of numbers per group and
    question."""

    __tablename__ = "survey_splits"
    __table_args__ = (CheckConstraint("split IN ('type', 'tenant', 'department', 'language')", name="split"),)

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    split: Mapped[str] = mapped_column(primary_key=True)
    figures: Mapped[dict[str, list[list[str | int | None]]]] = mapped_column(JSONB)
    counted_at: Mapped[datetime]


class KeptNumbers(Base):
    """What one number question of a version came to, as app.surveys.results.kept_numbers counted it
    in the background at
    `counted_at`: `people` gave a number, and `ranges` counts them in equal parts from `lowest` to `highest`.
    `is_whole`: all are whole numbers. When few numbers differ, `choices` has the people by number,
    and under '' all of them.

    `answered` people gave any answer: where a question had another type before, more than `people`, which may be 0.
    """

    __tablename__ = "survey_numbers"

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    question_key: Mapped[UUID] = mapped_column(primary_key=True)
    people: Mapped[int]
    mean: Mapped[Decimal]
    median: Mapped[Decimal]
    lowest: Mapped[Decimal]
    highest: Mapped[Decimal]
    ranges: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    is_whole: Mapped[bool]
    choices: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    answered: Mapped[int] = mapped_column(server_default="0")
    counted_at: Mapped[datetime]
