"""The connection, the settings, and the log of calls."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, Integer, SmallInteger, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.clock.models.columns import Count, Flag
from app.db.base import Base, Created, Id


class Connection(Base):
    """The one configured server of a workspace (`id` is always 1). `password` and `tokens` are sealed by app.secrets.

    `id_generation` counts how often the server's ids began again, `zone_generation` the zones; `not_before` holds the
    next call back after TC-RATE. `awaits_test`: saved on the page and never known to work, so the schedule starts
    nothing.
    """

    __tablename__ = "clock_connections"
    __table_args__ = (
        CheckConstraint("id = 1", name="single"),
        CheckConstraint("status IN ('unverified', 'healthy', 'failing', 'locked', 'paused')", name="status"),
    )

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, server_default="1", autoincrement=False)
    base_url: Mapped[str]
    username: Mapped[str]
    company: Mapped[str | None]
    password: Mapped[str]
    tokens: Mapped[str | None]
    profile: Mapped[str]
    timezone: Mapped[str]
    overrides: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    status: Mapped[str] = mapped_column(server_default="unverified")
    credential_failures: Mapped[Count]
    locked_until: Mapped[datetime | None]
    not_before: Mapped[datetime | None]
    id_generation: Mapped[int] = mapped_column(Integer, server_default="1")
    zone_generation: Mapped[int] = mapped_column(Integer, server_default="1")
    last_success_at: Mapped[datetime | None]
    last_error_code: Mapped[str | None]
    last_error_message: Mapped[str | None]
    last_error_at: Mapped[datetime | None]
    tested_at: Mapped[datetime | None]
    awaits_test: Mapped[Flag]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]


class Setting(Base):
    """One module setting that differs from its default."""

    __tablename__ = "clock_settings"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[Any] = mapped_column(JSONB)


class ApiLog(Base):
    """One outbound call, with a redacted excerpt of at most 2 KiB."""

    __tablename__ = "clock_api_logs"
    __table_args__ = (
        Index(None, "at", "id"),
        Index(None, "run_id", "id"),
        Index("clock_api_logs_code", "tc_code", "at", "id", postgresql_where=text("tc_code IS NOT NULL")),
    )

    id: Mapped[Id]
    at: Mapped[Created]
    run_id: Mapped[int | None]
    method: Mapped[str]
    host: Mapped[str]
    path: Mapped[str]
    query: Mapped[str]
    http_status: Mapped[int | None] = mapped_column(Integer)
    body_code: Mapped[str | None]
    duration_ms: Mapped[int]
    bytes: Mapped[int]
    tc_code: Mapped[str | None]
    excerpt: Mapped[str]
