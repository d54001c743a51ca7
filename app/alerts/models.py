"""What people must still be told, in each workspace: news of problems that are not planned for people yet, and one row
for each person and problem. What people chose is in setting."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.alerts.timing import STATES
from app.db.base import Base, Created, Id


class AlertNews(Base):
    """What one look, or one act, opened and closed, as ids of problems. It is written in that transaction. The job
    `alerts` plans it for people and removes it. `quiet`: what opened is told as a sum."""

    __tablename__ = "alert_news"

    id: Mapped[Id]
    at: Mapped[Created]
    opened: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    closed: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    quiet: Mapped[bool]


class ProblemAlert(Base):
    """How far a person has been told of a problem: `waiting` for the mail that it opened, `told`, `closing` for the
    mail that it closed, or `over`. `due_at` is when the next mail leaves, null for none. `opened_at` is when it opened
    this time. `thread` is the `message_key` of the mail that the next one replies to."""

    __tablename__ = "alerts"
    __table_args__ = (
        CheckConstraint(f"state IN ({', '.join(repr(one) for one in STATES)})", name="state"),
        Index("alerts_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
        Index(None, "problem_id"),
    )

    user_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    problem_id: Mapped[int] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    state: Mapped[str]
    due_at: Mapped[datetime | None]
    opened_at: Mapped[datetime]
    thread: Mapped[str | None]
