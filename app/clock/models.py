"""The tables of the mirror, in every workspace. No query lives here."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

from sqlalchemy import (
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    SmallInteger,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSTZRANGE, Range
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words

Count = Annotated[int, mapped_column(Integer, server_default="0")]
Flag = Annotated[bool, mapped_column(server_default=text("false"))]


class Connection(Base):
    """The one configured server of a workspace (`id` is always 1). `password` and `tokens` are sealed by app.secrets.

    `id_generation` counts how often the server's ids began again, `zone_generation` the zones; `not_before` holds the next call back after TC-RATE. `awaits_test`:
    saved on the page and never known to work, so the schedule starts nothing.
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


class _Organisation:
    """Columns that departments, positions, areas and locations share; `seen` is the last listing generation that held the row."""

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


class Device(Base):
    """A terminal, keyed by serial. `kind_mark` is the operator's word and wins over the remote flag; `direction` null means
    the setting `default_direction`. Skew is the median of upload minus punch: negative when the terminal's clock is fast.
    `terminal_tz` is the time zone that the server keeps for it, as it writes it; no instant depends on it."""

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


class ClockEmployee(Base):
    """Mirrored personnel, keyed by `emp_code` as text. Only flags say which biometrics are enrolled; no template is kept.

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


class Binding(Base):
    """The link of one clock code to a host employee: one row per mirrored employee, in exactly one of nine states.

    `cleared` tells the two kinds of unbound apart: true when an operator cleared it, so that no automatic pass touches it.
    `resumes` is the state that comes back when a missing or disabled person returns. `rejected` are host employees never to
    be proposed again. `candidates` is a list of {host_employee_id, name, score}; so is `taken`, of people with a similar name
    whom another code has.
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


class Punch(Base):
    """One mirrored punch and what the import made of it. Unique by the server's id within one id generation.

    `judge_at` is when the import must look at it again: 'epoch' when it is new, the moment when something it depends on changed, an
    instant when only time can change it, null when it is settled. `imported_role` is the role it was imported with
    (docs/rules.md); `remote_attendance` is false where the server says that this punch does not count for attendance, else null;
    `retry` that a person asked for a deleted record again, `lifted` that the import has answered it.
    `repeats_id` is the punch that a fold repeats. `settled_at_utc` is set while a person settled the punch (`settled_by`, perhaps with
    `settled_note`), and while a record made by hand holds it (`covered_by_id`).
    `edited_record_id` is the record that the punch left when it was edited on the server, until a record is brought up to date with
    it, and `edited_from_utc` the instant that it had there. `gone_at_utc` is when the server was first seen without it.
    `zone_generation` below that of the connection: its times are by an earlier zone still (ZoneChange).
    """

    __tablename__ = "clock_transactions"
    __table_args__ = (
        UniqueConstraint("id_generation", "remote_id"),
        Index(None, "local_date", "punched_at_utc", "id"),
        # With what a list filters by, the punches of people are counted by day from the index alone.
        Index(
            "clock_transactions_person",
            "emp_code",
            "punched_at_utc",
            "id",
            postgresql_include=["local_date", "import_outcome", "terminal_sn", "punch_code"],
        ),
        Index(None, "terminal_sn", "local_date", "punched_at_utc", "id"),
        Index(None, "updated_at", "id"),
        # What is not judged yet is found by its day, and is spared the work while a first sync writes millions. With the code, the
        # few punches of a rare outcome are narrowed to people from the index alone.
        Index(
            "clock_transactions_outcome",
            "import_outcome",
            "local_date",
            "punched_at_utc",
            "id",
            postgresql_include=["emp_code"],
            postgresql_where=text("import_outcome IS NOT NULL"),
        ),
        # Finds the few punches of some people that were not imported, counted by day.
        Index(
            "clock_transactions_not_imported",
            "emp_code",
            "import_outcome",
            "local_date",
            postgresql_where=text("import_outcome <> 'imported'"),
        ),
        Index(
            "clock_transactions_waiting",
            "emp_code",
            postgresql_where=text(
                "gone_at_utc IS NULL AND settled_at_utc IS NULL"
                " AND (import_outcome IS NULL OR import_outcome = 'not_bound')"
            ),
        ),
        # The same in the few weeks that are not counted up (punches/waiting_counts.py).
        Index(
            "clock_transactions_waiting_days",
            "local_date",
            "emp_code",
            postgresql_where=text(
                "gone_at_utc IS NULL AND settled_at_utc IS NULL"
                " AND (import_outcome IS NULL OR import_outcome = 'not_bound')"
            ),
        ),
        # Breaks and overtime lie far apart where they are seldom; the usual in and out cost no entry here.
        Index(
            "clock_transactions_seldom",
            "punch_code",
            "local_date",
            "punched_at_utc",
            "id",
            postgresql_where=text("punch_code BETWEEN 2 AND 5"),
        ),
        Index(
            "clock_transactions_unknown",
            "local_date",
            "punched_at_utc",
            "id",
            postgresql_where=text("punch_code IS NULL OR punch_code < 0 OR punch_code > 5"),
        ),
        Index("clock_transactions_judge", "judge_at", "emp_code", postgresql_where=text("judge_at IS NOT NULL")),
        Index(
            "clock_transactions_record", "host_attendance_id", postgresql_where=text("host_attendance_id IS NOT NULL")
        ),
        Index("clock_transactions_gone", "local_date", postgresql_where=text("gone_at_utc IS NOT NULL")),
        Index(
            "clock_transactions_settled",
            "local_date",
            "import_outcome",
            postgresql_where=text("settled_at_utc IS NOT NULL"),
        ),
        # What a person must decide, for problems: people and days from the index alone.
        Index(
            "clock_transactions_undecided",
            "import_outcome",
            "local_date",
            "emp_code",
            postgresql_include=["punched_at_utc", "terminal_sn", "id"],
            postgresql_where=text(
                "settled_at_utc IS NULL AND gone_at_utc IS NULL AND import_outcome IN ('only_one_punch', 'overlaps',"
                " 'arrived_late', 'over_24h', 'future_timestamp', 'employee_inactive', 'attendance_deleted', 'no_direction')"
            ),
        ),
        Index("clock_transactions_edited", "edited_record_id", postgresql_where=text("edited_record_id IS NOT NULL")),
        # What a change of a rule or a terminal concerns. What is not judged yet is left out: it is due anyway, and a first sync is
        # spared the work.
        Index(
            "clock_transactions_unsettled",
            "terminal_sn",
            "local_date",
            "punched_at_utc",
            "id",
            postgresql_where=text("host_attendance_id IS NULL AND import_outcome IS NOT NULL"),
        ),
        {"postgresql_with": {"fillfactor": "85"}},
    )

    id: Mapped[Id]
    id_generation: Mapped[int] = mapped_column(Integer)
    remote_id: Mapped[str]
    emp_code: Mapped[str]
    terminal_sn: Mapped[str | None]
    terminal_alias: Mapped[str | None]
    punch_code: Mapped[int | None] = mapped_column(Integer)
    verify_code: Mapped[int | None] = mapped_column(Integer)
    punched_at_raw: Mapped[str]
    punched_at_local: Mapped[datetime] = mapped_column(DateTime(timezone=False))
    punched_at_utc: Mapped[datetime]
    uploaded_at_utc: Mapped[datetime | None]
    local_date: Mapped[date]
    temperature: Mapped[Decimal | None] = mapped_column(Numeric(5, 2))
    photo_ref: Mapped[str | None]
    remote_attendance: Mapped[bool | None]
    first_run_id: Mapped[int | None]
    import_outcome: Mapped[str | None]
    imported_role: Mapped[str | None]
    host_attendance_id: Mapped[int | None]
    imported_at_utc: Mapped[datetime | None]
    settled_at_utc: Mapped[datetime | None]
    settled_by: Mapped[str | None]
    settled_note: Mapped[str | None]
    covered_by_id: Mapped[int | None]
    retry: Mapped[Flag]
    lifted: Mapped[Flag]
    repeats_id: Mapped[int | None]
    edited_record_id: Mapped[int | None]
    edited_from_utc: Mapped[datetime | None]
    gone_at_utc: Mapped[datetime | None]
    zone_generation: Mapped[int] = mapped_column(Integer, server_default="1")
    judge_at: Mapped[datetime | None] = mapped_column(server_default=text("'epoch'"))
    updated_at: Mapped[Created]


class PunchChange(Base):
    """What the server changed of a punch, when we saw it, and the run that did: only the fields that differ, of `punched_at_raw`,
    `punched_at_local`, `punched_at_utc`, `emp_code`, `terminal_sn` and `punch_code`. `record_id` is the record it was in then."""

    __tablename__ = "clock_punch_changes"
    __table_args__ = (Index(None, "punch_id", "id"),)

    id: Mapped[Id]
    punch_id: Mapped[int] = mapped_column(ForeignKey("clock_transactions.id", ondelete="CASCADE"))
    run_id: Mapped[int]
    seen_at: Mapped[Created]
    before: Mapped[dict[str, Any]] = mapped_column(JSONB)
    after: Mapped[dict[str, Any]] = mapped_column(JSONB)
    record_id: Mapped[int | None]


class MissingPunch(Base):
    """A punch that a complete walk did not bring, with so many others that a person is asked (`question`: the run that asks) before
    it counts as gone. It stays here after a refusal, so that it is not asked about again; when it comes again it goes from here."""

    __tablename__ = "clock_missing_punches"

    punch_id: Mapped[int] = mapped_column(
        ForeignKey("clock_transactions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    question: Mapped[int] = mapped_column(index=True)


class ImportedRecord(Base):
    """What the import last wrote into a host record, so that a person's correction is seen (`record_edited`)."""

    __tablename__ = "clock_imported_records"

    record_id: Mapped[int] = mapped_column(ForeignKey("attendance_records.id"), primary_key=True, autoincrement=False)
    clock_in: Mapped[datetime]
    clock_out: Mapped[datetime | None]
    breaks: Mapped[list[Range[datetime]]] = mapped_column(ARRAY(TSTZRANGE), server_default="{}")
    written_at: Mapped[Created]


class Rejudging(Base):
    """A change of the rules (`terminal_sn` is null) or of one terminal, until all punches that it concerns were judged again, from the
    newest to the oldest: `reached_day`, `reached_at` and `reached_id` are the place of the last that was, `judged` says how many, and
    `total` is how many there were when the first import began with it. `marked` is the same for workers of the version before, which
    mark the punches first."""

    __tablename__ = "clock_rejudgings"
    __table_args__ = (Index("clock_rejudgings_open", "id", postgresql_where=text("finished_at IS NULL")),)

    id: Mapped[Id]
    terminal_sn: Mapped[str | None]
    begun_at: Mapped[Created]
    reached_day: Mapped[date | None]
    reached_at: Mapped[datetime | None]
    reached_id: Mapped[int | None]
    total: Mapped[int | None]
    marked: Mapped[int] = mapped_column(server_default=text("0"))
    judged: Mapped[int] = mapped_column(server_default=text("0"))
    finished_at: Mapped[datetime | None]


class ZoneChange(Base):
    """Another zone of the connection, until all punches have its times, from the newest day to the oldest. `generation` is what they
    have then, `kept` what of a punch stays; `reached_day` is the day that was come to, `rewritten` says how many of `total` follow."""

    __tablename__ = "clock_zone_changes"
    __table_args__ = (
        CheckConstraint("kept IN ('local_times', 'instants')", name="kept"),
        Index("clock_zone_changes_open", "id", postgresql_where=text("finished_at IS NULL")),
    )

    id: Mapped[Id]
    generation: Mapped[int] = mapped_column(Integer)
    old_zone: Mapped[str]
    zone: Mapped[str]
    kept: Mapped[str]
    begun_at: Mapped[Created]
    reached_day: Mapped[date | None]
    total: Mapped[int | None]
    rewritten: Mapped[int] = mapped_column(server_default=text("0"))
    finished_at: Mapped[datetime | None]


class OwnerChange(Base):
    """Codes that changed their owner, or whose owner became active or inactive, with more punches than a request marks. `reached_*` is
    the place of the last punch that was looked at: the codes in their order, each from its newest punch to its oldest."""

    __tablename__ = "clock_owner_changes"
    __table_args__ = (Index("clock_owner_changes_open", "id", postgresql_where=text("finished_at IS NULL")),)

    id: Mapped[Id]
    begun_at: Mapped[Created]
    reached_place: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    reached_at: Mapped[datetime | None]
    reached_id: Mapped[int | None]
    total: Mapped[int | None]
    marked: Mapped[int] = mapped_column(server_default=text("0"))
    finished_at: Mapped[datetime | None]


class OwnerChangeCode(Base):
    """One code of such a change. `moved`: it has another owner, `host_employee_id`, or none; else what waits on it is judged again
    because of its owner."""

    __tablename__ = "clock_owner_change_codes"
    __table_args__ = (Index(None, "emp_code"),)

    change_id: Mapped[int] = mapped_column(ForeignKey("clock_owner_changes.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    emp_code: Mapped[str]
    host_employee_id: Mapped[int | None]
    moved: Mapped[bool]


class SyncRun(Base):
    """One run. `request` says what was asked ({resources, budget_seconds, import, backfill: {from, to, emp_codes}}), `progress`
    what the Sync Center shows live, `resources` and `outcomes` the counts that the API shows as `resources` and `import`."""

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
    """Who may write for the connection (`id` is always 1). Every page's transaction checks `fence`; a stale holder stops."""

    __tablename__ = "clock_sync_lease"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, server_default="1", autoincrement=False)
    fence: Mapped[int] = mapped_column(server_default="0")
    run_id: Mapped[int | None]
    expires_at: Mapped[datetime | None]


class Cursor(Base):
    """How far one walk got, so that a sync can resume. Complete listings have one row (`window` is empty); punches one per
    stretch of days: what is to be read is `starts_on` to `ends_on` (none: open), everything before `done_until` has been,
    and the slice being walked ends before `slice_until`.

    `page` to `last_page_digest` belong to the walk that is under way; `digests` are the pages of the last one that was
    complete; `covered_until` is when that one began. `pending` holds what the kind needs besides: the disappearance that
    waits for a person, or the counts that a nightly check compared. Of kind `gone` there is one row for each time that punches
    disappeared in a mass: refused until a person decides, then open until the punches are marked.
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


class DailyTotal(Base):
    """Punch totals of one local day, kept when punches are purged. `dimension`: all, terminal, department or outcome. `gone`, only
    of all, are punches that the server no longer has; no other figure counts them."""

    __tablename__ = "clock_analytics_daily"
    __table_args__ = (
        CheckConstraint("dimension IN ('all', 'terminal', 'department', 'outcome')", name="dimension"),
        Index(None, "dimension", "key", "local_date", postgresql_include=["total"]),
    )

    local_date: Mapped[date] = mapped_column(primary_key=True)
    dimension: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True, server_default="")
    total: Mapped[Count]
    check_in: Mapped[Count]
    check_out: Mapped[Count]
    break_out: Mapped[Count]
    break_in: Mapped[Count]
    overtime_in: Mapped[Count]
    overtime_out: Mapped[Count]
    unknown: Mapped[Count]
    employees: Mapped[Count]
    terminals: Mapped[Count]
    imported: Mapped[Count]
    gone: Mapped[Count]
    frozen: Mapped[Flag]


class PunchCount(Base):
    """How many punches a local day holds by terminal, outcome and code: totals and deep pages of the punch list come from here.
    `gone` of the `total` are no longer on the server, and `settled` of the others are settled.

    A day in `clock_stale_days` is counted from the punches themselves until the rollup has run.
    """

    __tablename__ = "clock_transaction_counts"
    __table_args__ = (Index("clock_transaction_counts_gone", "local_date", postgresql_where=text("gone > 0")),)

    local_date: Mapped[date] = mapped_column(primary_key=True)
    terminal_sn: Mapped[str] = mapped_column(primary_key=True)
    import_outcome: Mapped[str] = mapped_column(primary_key=True)
    punch_code: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    total: Mapped[int] = mapped_column(Integer)
    gone: Mapped[Count]
    settled: Mapped[Count]


class PersonCount(Base):
    """How many punches a code has in a week of local days, by its Monday: totals and deep pages of a search for many people. `waiting` of
    them wait for an employee behind the code (punches/waiting_counts.py); null where a version before this one counted.

    A week with a day in `clock_stale_days` is counted from the punches themselves until the rollup has run.
    """

    __tablename__ = "clock_person_counts"
    __table_args__ = (
        Index(None, "week"),
        Index("clock_person_counts_unknown", "week", postgresql_where=text("waiting IS NULL")),
    )

    emp_code: Mapped[str] = mapped_column(primary_key=True)
    week: Mapped[date] = mapped_column(primary_key=True)
    total: Mapped[int] = mapped_column(Integer)
    waiting: Mapped[int | None] = mapped_column(Integer)


class WaitingCount(Base):
    """The sum of `waiting` over all weeks of a code in `clock_person_counts`. A trigger of that table keeps it, so that rows which a version
    before this one makes or removes count too. There, rows are inserted and deleted, and never updated."""

    __tablename__ = "clock_waiting_counts"

    emp_code: Mapped[str] = mapped_column(primary_key=True)
    punches: Mapped[int]


class HourCount(Base):
    """How many punches of a local day came at an hour of the week, and how many came how late: punches/hour_counts.py says what
    `bucket` is. A day in `clock_stale_days`, and one that is not here, is counted from the punches themselves."""

    __tablename__ = "clock_hour_counts"

    local_date: Mapped[date] = mapped_column(primary_key=True)
    bucket: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    total: Mapped[int] = mapped_column(Integer)


class StaleDay(Base):
    """A local day whose totals must be computed again; written with the punches, removed by the rollup."""

    __tablename__ = "clock_stale_days"

    local_date: Mapped[date] = mapped_column(primary_key=True)
    marked_at: Mapped[Created]
