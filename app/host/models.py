"""The host's tables in every workspace: employees, kiosk enrolments, attendance, day locks. The host knows no clock."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSTZRANGE, Range
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id


class Employee(Base):
    """A person on the payroll. ID numbers need not be unique; `id_number_key` is the trimmed, case-folded one that matches."""

    __tablename__ = "employees"
    __table_args__ = (
        Index(None, "id_number_key"),
        Index(None, "name", "id"),
        Index(None, "user_id"),
    )

    id: Mapped[Id]
    id_number: Mapped[str]
    id_number_key: Mapped[str]
    name: Mapped[str]
    email: Mapped[str | None]
    department: Mapped[str | None]
    position: Mapped[str | None]
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    user_id: Mapped[int | None]
    deleted_at: Mapped[datetime | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]


class KioskEnrolment(Base):
    __tablename__ = "kiosk_enrolments"

    id: Mapped[Id]
    code: Mapped[str] = mapped_column(unique=True)
    employee_id: Mapped[int] = mapped_column(ForeignKey("employees.id"), index=True)
    created_at: Mapped[Created]


class AttendanceRecord(Base):
    """Hours that one person worked, half-open; a record without clock-out covers its clock-in instant alone.

    `edited_from` is what a person found when they first changed the times by hand; null when nobody did.
    """

    __tablename__ = "attendance_records"
    __table_args__ = (
        CheckConstraint("kind IN ('regular', 'overtime')", name="kind"),
        CheckConstraint("status IN ('pending', 'approved', 'rejected', 'auto_closed')", name="status"),
        CheckConstraint("source IN ('clock', 'manual')", name="source"),
        CheckConstraint("clock_out > clock_in", name="order"),
        Index(None, "employee_id", "clock_in"),
        Index(None, "workday", "id"),
    )

    id: Mapped[Id]
    employee_id: Mapped[int] = mapped_column(ForeignKey("employees.id"))
    workday: Mapped[date]
    kind: Mapped[str] = mapped_column(server_default="regular")
    clock_in: Mapped[datetime]
    clock_out: Mapped[datetime | None]
    breaks: Mapped[list[Range[datetime]]] = mapped_column(ARRAY(TSTZRANGE), server_default="{}")
    status: Mapped[str] = mapped_column(server_default="pending")
    source: Mapped[str]
    note: Mapped[str | None]
    edited_by: Mapped[str | None]
    edited_at: Mapped[datetime | None]
    edited_from: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    deleted_by: Mapped[str | None]
    deleted_at: Mapped[datetime | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]


class DayLock(Base):
    __tablename__ = "day_locks"

    day: Mapped[date] = mapped_column(primary_key=True)
    locked_by: Mapped[str]
    locked_at: Mapped[Created]
