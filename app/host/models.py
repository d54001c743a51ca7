"""The host's tables in every workspace: employees, kiosk enrolments, attendance, day locks, the app library
and the ratings of its apps. The host knows neither the clock nor surveys."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, SmallInteger, TextClause, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSTZRANGE, Range
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words

KEPT = text("deleted_at IS NULL")


class Employee(Base):
    """A person on the payroll. ID numbers need not be unique;
    `id_number_key` is the trimmed, case-folded form for comparing."""

    __tablename__ = "employees"
    __table_args__ = (
        Index(None, "id_number_key"),
        Index(None, "name", "id"),
        Index(None, "user_id"),
        Index(None, "updated_at"),
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


def _live(condition: str) -> TextClause:
    return text(f"deleted_at IS NULL AND {condition}")


class AttendanceRecord(Base):
    """Hours that one person worked, half-open; a record without clock-out covers its clock-in instant alone.

    `edited_from` has the times from before the first change by hand; null when there was none.
    """

    __tablename__ = "attendance_records"
    __table_args__ = (
        CheckConstraint("kind IN ('regular', 'overtime')", name="kind"),
        CheckConstraint("status IN ('pending', 'approved', 'rejected', 'auto_closed')", name="status"),
        CheckConstraint("source IN ('clock', 'manual')", name="source"),
        CheckConstraint("clock_out > clock_in", name="order"),
        Index(None, "employee_id", "clock_in"),
        Index(None, "workday", "id"),
        Index(None, "updated_at"),
        # Counted from the index alone.
        Index("attendance_records_live", "workday", "id", postgresql_where=text("deleted_at IS NULL")),
        Index("attendance_records_person", "employee_id", "workday", "id", postgresql_where=text("deleted_at IS NULL")),
        # Only the few that people look for.
        Index("attendance_records_status", "status", "workday", "id", postgresql_where=_live("status <> 'approved'")),
        Index("attendance_records_source", "workday", "id", postgresql_where=_live("source <> 'clock'")),
        Index("attendance_records_kind", "workday", "id", postgresql_where=_live("kind <> 'regular'")),
        Index("attendance_records_open", "workday", "id", postgresql_where=_live("clock_out IS NULL")),
        Index("attendance_records_edited", "workday", "id", postgresql_where=_live("edited_at IS NOT NULL")),
        Index("attendance_records_noted", "workday", "id", postgresql_where=_live("note IS NOT NULL")),
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


class DayLockChange(Base):
    """When a day was last locked or opened, so that programs that follow attendance learn it, also of days that are
    open again."""

    __tablename__ = "day_lock_changes"
    __table_args__ = (Index(None, "changed_at"),)

    day: Mapped[date] = mapped_column(primary_key=True)
    changed_at: Mapped[Created]


class Application(Base):
    """An app of the library. It accepts ratings while it is published and not restricted.
    Only the platform keeps apps."""

    __tablename__ = "applications"
    __table_args__ = (
        CheckConstraint("status IN ('draft', 'published', 'retired')", name="status"),
        CheckConstraint("platforms <@ ARRAY['ios', 'android', 'web']", name="platforms"),
        Index("applications_name", text("lower(name)"), unique=True, postgresql_where=KEPT),
    )

    id: Mapped[Id]
    uid: Mapped[UUID] = mapped_column(unique=True, server_default=func.gen_random_uuid())
    name: Mapped[str]
    description: Mapped[str | None]
    platforms: Mapped[Words]
    icon: Mapped[bytes | None]
    icon_type: Mapped[str | None]
    status: Mapped[str] = mapped_column(server_default="draft")
    admin_restricted: Mapped[bool] = mapped_column(server_default=text("false"))
    demo: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[Created]
    updated_at: Mapped[Created]
    deleted_at: Mapped[datetime | None]


class AppRating(Base):
    """One to five stars of one person for one app on one UTC day. Removed demo rows are soft-deleted. `updated_at` is
    when the row was last written, by the clock of the database; `erased_at` when its comment was erased together with
    the person's other data."""

    __tablename__ = "api_app_ratings"
    __table_args__ = (
        CheckConstraint("rating BETWEEN 1 AND 5", name="rating"),
        CheckConstraint("platform IN ('ios', 'android', 'web')", name="platform"),
        Index("api_app_ratings_one_a_day", "application_id", "user_id", "rated_on", unique=True, postgresql_where=KEPT),
        Index(None, "rated_at", "id", postgresql_where=KEPT),
        Index(None, "application_id", "rated_at", "id", postgresql_where=KEPT),
        Index(None, "rating", "rated_at", "id", postgresql_where=KEPT),
        Index(None, "rating", "id", postgresql_where=KEPT),
        Index(None, "updated_at"),
        Index(None, "user_id"),
    )

    id: Mapped[Id]
    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"))
    user_id: Mapped[int]
    rating: Mapped[int] = mapped_column(SmallInteger)
    platform: Mapped[str]
    comment: Mapped[str | None]
    app_version: Mapped[str | None]
    rated_at: Mapped[Created]
    rated_on: Mapped[date]
    demo: Mapped[bool] = mapped_column(server_default=text("false"))
    deleted_at: Mapped[datetime | None]
    updated_at: Mapped[Created]
    erased_at: Mapped[datetime | None]


class AppRatingCount(Base):
    """How many ratings an app has with so many stars on a platform, and how many of them are their person's latest of
    that app. Derived from `api_app_ratings`, so that figures need not read all ratings.
    app.surveys.ratings.ratings keeps it."""

    __tablename__ = "app_rating_counts"

    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id", ondelete="CASCADE"), primary_key=True)
    platform: Mapped[str] = mapped_column(primary_key=True)
    rating: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    number: Mapped[int]
    latest: Mapped[int]


class SavedView(Base):
    """A view of a list that a person saved under a name: `query` is the address's, without the page. A shared view is
    for everybody who may see the list."""

    __tablename__ = "saved_views"
    __table_args__ = (Index("saved_views_named", "list", "user_id", text("lower(name)"), unique=True),)

    id: Mapped[Id]
    list: Mapped[str]
    name: Mapped[str]
    query: Mapped[str]
    user_id: Mapped[int]
    shared: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[Created]
