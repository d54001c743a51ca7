"""The tables of problems in every workspace. Counts of what is open are shared: app/problems/count_models.py."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words

_STANDS, _OPEN = text("stands"), text("closed_at IS NULL")


class Problem(Base):
    """One thing to do, about one subject. It is open while `closed_at` is null.

    `stands`: what it is about is still so. An open problem stands; one that a person dismissed stands, too, until it is
    over or there is new evidence. So there is at most one row that stands for a kind and a subject. `since` is when it
    began, as far as that is known, and `facts` is what it was found by. `evidence` grows with what is new.
    `last_seen_at` is when a look last found something new in it.
    """

    __tablename__ = "problems"
    __table_args__ = (
        CheckConstraint("severity IN ('critical', 'warning', 'info')", name="severity"),
        CheckConstraint("closed_by IN ('itself', 'person')", name="closed_by"),
        CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name="closed"),
        CheckConstraint("stands OR closed_at IS NOT NULL", name="stands"),
        Index("problems_stand", "kind", "subject_type", "subject_id", unique=True, postgresql_where=_STANDS),
        Index("problems_open", "kind", "id", postgresql_where=_OPEN),
        Index("problems_open_ids", "id", postgresql_where=_OPEN),
        Index("problems_assigned", "assigned_to", "id", postgresql_where=text("assigned_to IS NOT NULL")),
        # In the order of their list.
        Index(
            "problems_closed_order",
            text("closed_at DESC NULLS LAST"),
            text("id DESC"),
            postgresql_where=text("closed_at IS NOT NULL"),
        ),
        Index("problems_changed", "updated_at", "id"),
        # Groups, their sums and their first rows come from it alone.
        Index(
            "problems_harm",
            "kind",
            text("held_punches DESC"),
            "since",
            "id",
            postgresql_include=["severity", "held_people", "snoozed_until"],
            postgresql_where=_OPEN,
        ),
        Index(
            "problems_snoozed",
            "kind",
            "snoozed_until",
            postgresql_where=text("closed_at IS NULL AND snoozed_until IS NOT NULL"),
        ),
        Index("problems_department", text("(facts ->> 'department')"), "kind", postgresql_where=_OPEN),
        Index("problems_terminal", text("(facts ->> 'terminal')"), "kind", postgresql_where=_OPEN),
    )

    id: Mapped[Id]
    kind: Mapped[str]
    subject_type: Mapped[str]
    subject_id: Mapped[str]
    severity: Mapped[str]
    title: Mapped[str]
    detail: Mapped[str] = mapped_column(server_default="")
    held_punches: Mapped[int] = mapped_column(server_default="0")
    held_people: Mapped[int] = mapped_column(server_default="0")
    evidence: Mapped[int] = mapped_column(server_default="0")
    facts: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    since: Mapped[datetime]
    opened_at: Mapped[Created]
    last_seen_at: Mapped[Created]
    updated_at: Mapped[Created]
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[str | None]
    stands: Mapped[bool] = mapped_column(server_default=text("true"))
    snoozed_until: Mapped[datetime | None]
    assigned_to: Mapped[int | None]


class ProblemChange(Base):
    """A line of a problem's history. `user_id` is null where it happened by itself;
    `note` is what the person wrote, or what is new."""

    __tablename__ = "problem_changes"
    __table_args__ = (
        CheckConstraint(
            "what IN ('opened', 'changed', 'closed', 'opened_again', 'assigned', 'snoozed', 'dismissed', 'remedy')",
            name="what",
        ),
        Index(None, "problem_id", "id"),
    )

    id: Mapped[Id]
    problem_id: Mapped[int] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"))
    at: Mapped[Created]
    what: Mapped[str]
    user_id: Mapped[int | None]
    note: Mapped[str] = mapped_column(server_default="")


class ProblemSweep(Base):
    """One row: which kinds were ever looked for in this workspace, and when old problems were last removed. What the
    first look for a kind finds was there before, so it opens quietly. `looked_at` is when all kinds were last looked
    for here; as the facts were then, time alone opens nothing before `opens_at`. Null until a look notes it.
    `marks`: what app.problems.marks keeps."""

    __tablename__ = "problem_sweeps"
    __table_args__ = (CheckConstraint("id = 1", name="one"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, server_default="1")
    kinds: Mapped[Words]
    tidied_at: Mapped[Created]
    looked_at: Mapped[datetime | None]
    opens_at: Mapped[datetime | None]
    marks: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
