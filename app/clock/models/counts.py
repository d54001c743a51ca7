"""Counts of punches by day, week and hour, and the days that must be counted again."""

from datetime import date

from sqlalchemy import CheckConstraint, Index, Integer, text
from sqlalchemy.orm import Mapped, mapped_column

from app.clock.models.columns import Count, Flag
from app.db.base import Base, Created


class DailyTotal(Base):
    """Punch totals of one local day, kept when punches are purged. `dimension`: all, terminal, department or outcome.
    `gone`, only of all, are punches that the server no longer has; no other figure counts them."""

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
    """How many punches a local day holds by terminal, outcome and code: totals and deep pages of the punch list come
    from here. `gone` of the `total` are no longer on the server, and `settled` of the others are settled.

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
    """How many punches a code has in a week of local days, by its Monday: totals and deep pages of a search for many
    people. `waiting` of them wait for an employee behind the code (punches/waiting_counts.py); null where a version
    before this one counted.

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
    """The sum of `waiting` over all weeks of a code in `clock_person_counts`. A trigger of that table keeps it, so that
    rows which a version before this one makes or removes count too. There, rows are inserted and deleted, and never
    updated."""

    __tablename__ = "clock_waiting_counts"

    emp_code: Mapped[str] = mapped_column(primary_key=True)
    punches: Mapped[int]


class HourCount(Base):
    """How many punches of a local day came at an hour of the week, and how many came how late: punches/hour_counts.py
    says what `bucket` is. A day in `clock_stale_days`, and one that is not here, is counted from the punches
    themselves."""

    __tablename__ = "clock_hour_counts"

    local_date: Mapped[date] = mapped_column(primary_key=True)
    bucket: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    total: Mapped[int] = mapped_column(Integer)


class StaleDay(Base):
    """A local day whose totals must be computed again; written with the punches, removed by the rollup. With
    `outcomes_only`, nothing of its punches changed but outcomes, records and the marks that settle them: figures that
    do not depend on these are still as they were counted. A trigger keeps that a mark without it wins, also one that a
    version before this one sets."""

    __tablename__ = "clock_stale_days"

    local_date: Mapped[date] = mapped_column(primary_key=True)
    marked_at: Mapped[Created]
    outcomes_only: Mapped[Flag]
