"""Departments, positions, areas and locations, and the people on the clock."""

from datetime import date, datetime

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.clock.models.columns import Flag
from app.db.base import Base, Created, Id, Words


class _Organisation:
    """Columns that departments, positions, areas and locations share; `seen` is the last listing generation that held
    the row."""

    id: Mapped[Id]
    code: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    parent_code: Mapped[str | None]
    remote_id: Mapped[str | None]
    remarks: Mapped[str | None]
    seen: Mapped[int] = mapped_column(server_default="0")
    absent_since: Mapped[datetime | None]
    updated_at: Mapped[Created]


class Department(_Organisation, Base):
    __tablename__ = "clock_departments"


class Position(_Organisation, Base):
    __tablename__ = "clock_positions"


class Area(_Organisation, Base):
    __tablename__ = "clock_areas"


class Location(_Organisation, Base):
    __tablename__ = "clock_locations"


class ClockEmployee(Base):
    """Mirrored personnel, keyed by `emp_code` as text. Only flags say which biometrics are enrolled; no template is
    kept.

    `named_at` is when `full_name` last changed, null while it never did: the punches of the person show it.
    """

    __tablename__ = "clock_employees"
    __table_args__ = (
        Index(None, "updated_at", "id"),
        Index("clock_employees_named", "named_at", postgresql_where=text("named_at IS NOT NULL")),
    )

    id: Mapped[Id]
    emp_code: Mapped[str] = mapped_column(unique=True)
    remote_id: Mapped[str | None]
    first_name: Mapped[str | None]
    last_name: Mapped[str | None]
    full_name: Mapped[str] = mapped_column(server_default="")
    named_at: Mapped[datetime | None]
    department_code: Mapped[str | None]
    position_code: Mapped[str | None]
    area_codes: Mapped[Words]
    email: Mapped[str | None]
    hired_on: Mapped[date | None]
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    has_fingerprint: Mapped[Flag]
    has_face: Mapped[Flag]
    has_palm: Mapped[Flag]
    has_card: Mapped[Flag]
    has_password: Mapped[Flag]
    photo_ref: Mapped[str | None]
    remarks: Mapped[str | None]
    seen: Mapped[int] = mapped_column(server_default="0")
    absent_since: Mapped[datetime | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]
