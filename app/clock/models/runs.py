"""Sync runs, the lease, how far each walk got, and the rows that could not be read."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, LargeBinary, SmallInteger
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.clock.models.columns import Count, Flag
from app.db.base import Base, Created, Id


class SyncRun(Base):
    """One run. `request` says what was asked ({resources, budget_seconds, import, backfill: {from, to, emp_codes}}),
    `progress` what the Sync Center shows live, `resources` and `outcomes` the counts that the API shows as `resources`
    and `import`."""

    __tablename__ = "clock_sync_runs"
    __table_args__ = (
        CheckConstraint(
            "status IN ('queued', 'running', 'succeeded', 'partial', 'truncated', 'failed')", name="status"
        ),
        CheckConstraint("trigger IN ('schedule', 'manual', 'resume', 'command')", name="trigger"),
        Index(None, "status", "id"),
    )

    id: Mapped[Id]
    trigger: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="queued")
    request: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    requested_by: Mapped[str | None]
    queued_at: Mapped[Created]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    stop_requested: Mapped[Flag]
    error_code: Mapped[str | None]
    error_message: Mapped[str | None]
    calls: Mapped[Count]
    resources: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    outcomes: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    progress: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    findings: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")


class Lease(Base):
    """Who may write for the connection (`id` is always 1). Every page's transaction checks `fence`; a stale holder
    stops."""

    __tablename__ = "clock_sync_lease"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, server_default="1", autoincrement=False)
    fence: Mapped[int] = mapped_column(server_default="0")
    run_id: Mapped[int | None]
    expires_at: Mapped[datetime | None]


class Cursor(Base):
    """How far one walk got, so that a sync can resume. Complete listings have one row (`window` is empty); punches one
    per stretch of days: what is to be read is `starts_on` to `ends_on` (none: open), everything before `done_until` has
    been, and the slice being walked ends before `slice_until`.

    `page` to `last_page_digest` belong to the walk that is under way; `digests` are the pages of the last one that was
    complete; `covered_until` is when that one began. `pending` holds what the kind needs besides: the disappearance
    that waits for a person, or the counts that a nightly check compared. Of kind `gone` there is one row for each time
    that punches disappeared in a mass: refused until a person decides, then open until the punches are marked.
    """

    __tablename__ = "clock_sync_cursors"
    __table_args__ = (
        CheckConstraint("kind IN ('listing', 'live', 'check', 'backfill', 'asked', 'gone')", name="kind"),
        CheckConstraint("state IN ('open', 'complete', 'refused')", name="state"),
        Index(None, "resource", "kind", "starts_on"),
    )

    resource: Mapped[str] = mapped_column(primary_key=True)
    window: Mapped[str] = mapped_column(primary_key=True, server_default="")
    kind: Mapped[str]
    state: Mapped[str] = mapped_column(server_default="open")
    starts_on: Mapped[date | None]
    ends_on: Mapped[date | None]
    done_until: Mapped[date | None]
    slice_until: Mapped[date | None]
    covered_until: Mapped[datetime | None]
    emp_code: Mapped[str | None]
    generation: Mapped[int] = mapped_column(server_default="0")
    began_at: Mapped[datetime | None]
    page: Mapped[Count]
    walks: Mapped[Count]
    rows_seen: Mapped[int] = mapped_column(server_default="0")
    total: Mapped[int | None]
    last_page_digest: Mapped[bytes | None] = mapped_column(LargeBinary)
    digests: Mapped[list[bytes]] = mapped_column(ARRAY(LargeBinary), server_default="{}")
    note: Mapped[str | None]
    pending: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    updated_at: Mapped[Created]


class SetAside(Base):
    """A row that could not be read, redacted, with the reason; the walk continued without it."""

    __tablename__ = "clock_set_aside"

    id: Mapped[Id]
    run_id: Mapped[int] = mapped_column(index=True)
    resource: Mapped[str]
    raw: Mapped[str]
    reason: Mapped[str]
    at: Mapped[Created]
