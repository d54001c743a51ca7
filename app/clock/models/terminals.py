"""Terminals."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Integer
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id


class Device(Base):
    """A terminal, keyed by serial. `kind_mark` is the operator's word and wins over the remote flag; `direction` null
    means the setting `default_direction`. Skew is the median of upload minus punch: negative when the terminal's clock
    is fast. `terminal_tz` is the time zone that the server keeps for it, as it writes it; no instant depends on it."""

    __tablename__ = "clock_devices"
    __table_args__ = (
        CheckConstraint("kind_mark IN ('attendance', 'access')", name="kind_mark"),
        CheckConstraint("direction IN ('by_code', 'in', 'out', 'undirected')", name="direction"),
        CheckConstraint("state IN ('online', 'offline', 'unknown')", name="state"),
    )

    id: Mapped[Id]
    sn: Mapped[str] = mapped_column(unique=True)
    remote_id: Mapped[str | None]
    alias: Mapped[str | None]
    ip_address: Mapped[str | None]
    firmware: Mapped[str | None]
    state: Mapped[str] = mapped_column(server_default="unknown")
    last_activity_at: Mapped[datetime | None]
    area_code: Mapped[str | None]
    terminal_tz: Mapped[str | None]
    remote_attendance: Mapped[bool | None]
    kind_mark: Mapped[str | None]
    direction: Mapped[str | None]
    user_count: Mapped[int | None] = mapped_column(Integer)
    fingerprint_count: Mapped[int | None] = mapped_column(Integer)
    face_count: Mapped[int | None] = mapped_column(Integer)
    palm_count: Mapped[int | None] = mapped_column(Integer)
    transaction_count: Mapped[int | None]
    clock_skew_seconds: Mapped[int | None]
    last_punch_at_utc: Mapped[datetime | None]
    remarks: Mapped[str | None]
    seen: Mapped[int] = mapped_column(server_default="0")
    absent_since: Mapped[datetime | None]
    updated_at: Mapped[Created]
