"""Punches, what the server changed of them, and what the import wrote."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import DateTime, ForeignKey, Index, Integer, Numeric, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSTZRANGE, Range
from sqlalchemy.orm import Mapped, mapped_column

from app.clock.models.columns import Flag
from app.db.base import Base, Created, Id


class Punch(Base):
    """One mirrored punch and what the import made of it. Unique by the server's id within one id generation.

    `judge_at` is when the import must look at it again: 'epoch' when it is new, the moment when something it depends on
    changed, an instant when only time can change it, null when it is settled. `imported_role` is the role it was
    imported with (docs/rules.md); `remote_attendance` is false where the server says that this punch does not count for
    attendance, else null; `retry` that a person asked for a deleted record again, `lifted` that the import has answered
    it. `repeats_id` is the punch that a fold repeats. `settled_at_utc` is set while a person settled the punch
    (`settled_by`, perhaps with `settled_note`), and while a record made by hand holds it (`covered_by_id`).
    `edited_record_id` is the record that the punch left when it was edited on the server, until a record is brought up
    to date with it, and `edited_from_utc` the instant that it had there. `gone_at_utc` is when the server was first
    seen without it. `zone_generation` below that of the connection: its times are by an earlier zone still
    (ZoneChange).
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
        # What is not judged yet is found by its day, and is spared the work while a first sync writes millions. With
        # the code, the few punches of a rare outcome are narrowed to people from the index alone.
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
        # Where breaks and overtime are rare, they lie far apart in the table. The usual in and out need no entry in
        # this index.
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
        # What waits to be judged is counted and read in order from this index alone.
        Index(
            "clock_transactions_unjudged",
            "local_date",
            "punched_at_utc",
            "id",
            postgresql_where=text("import_outcome IS NULL"),
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
        # What a change of a rule or a terminal concerns. What is not judged yet is left out: it is due anyway, and a
        # first sync is spared the work.
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
    """What the server changed of a punch, when we saw it, and the run that did: only the fields that differ, of
    `punched_at_raw`, `punched_at_local`, `punched_at_utc`, `emp_code`, `terminal_sn` and `punch_code`. `record_id` is
    the record it was in then."""

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
    """A punch that a complete walk did not bring, with so many others that a person is asked (`question`: the run that
    asks) before it counts as gone. It stays here after a refusal, so that it is not asked about again; when it comes
    again it goes from here."""

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
