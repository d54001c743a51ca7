"""The links between clock codes and host employees, and their history."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.clock.models.columns import Flag
from app.db.base import Base, Created, Id


class Binding(Base):
    """The link of one clock code to a host employee: one row per mirrored employee, in exactly one of nine states.

    `cleared` tells the two kinds of unbound apart: true when an operator cleared it, so that no automatic pass touches
    it. `resumes` is the state that comes back when a missing or disabled person returns. `rejected` are host employees
    never to be proposed again. `candidates` is a list of {host_employee_id, name, score}; so is `taken`, of people with
    a similar name whom another code has.
    """

    __tablename__ = "clock_employee_bindings"
    __table_args__ = (
        CheckConstraint(
            "state IN ('bound', 'auto_matched', 'suggested', 'unbound', 'not_found', 'conflict', 'missing_remote',"
            " 'ignored', 'disabled')",
            name="state",
        ),
        CheckConstraint("method IN ('manual', 'kiosk', 'id_number', 'name')", name="method"),
        CheckConstraint(
            "(state IN ('bound', 'auto_matched', 'missing_remote')) = (host_employee_id IS NOT NULL)",
            name="host_employee",
        ),
        Index(None, "state", "id"),
        Index(None, "updated_at", "id"),
    )

    id: Mapped[Id]
    clock_employee_id: Mapped[int] = mapped_column(ForeignKey("clock_employees.id"), unique=True)
    emp_code: Mapped[str] = mapped_column(unique=True)
    state: Mapped[str] = mapped_column(server_default="unbound")
    method: Mapped[str | None]
    host_employee_id: Mapped[int | None] = mapped_column(ForeignKey("employees.id"), index=True)
    cleared: Mapped[Flag]
    resumes: Mapped[str | None]
    candidates: Mapped[list[Any]] = mapped_column(JSONB, server_default="[]")
    taken: Mapped[list[Any]] = mapped_column(JSONB, server_default="[]")
    rejected: Mapped[list[int]] = mapped_column(JSONB, server_default="[]")
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    reason: Mapped[str | None]
    updated_at: Mapped[Created]


class BindingChange(Base):
    """History: one row for every change of a binding."""

    __tablename__ = "clock_binding_history"

    id: Mapped[Id]
    binding_id: Mapped[int] = mapped_column(ForeignKey("clock_employee_bindings.id"), index=True)
    from_state: Mapped[str | None]
    to_state: Mapped[str]
    method: Mapped[str | None]
    host_employee_id: Mapped[int | None]
    decided_by: Mapped[str]
    at: Mapped[Created]
    why: Mapped[str]
