"""Changes that concern very many punches, until the import has carried them out."""

from datetime import date, datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id


class Rejudging(Base):
    """A change of the rules (`terminal_sn` is null) or of one terminal, until all punches that it concerns were judged
    again, from the newest to the oldest: `reached_day`, `reached_at` and `reached_id` are the place of the last that
    was, `judged` says how many, and `total` is how many there were when the first import began with it. `marked` is the
    same for workers of the version before, which mark the punches first."""

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
    """Another zone of the connection, until all punches have its times, from the newest day to the oldest. `generation`
    is what they have then, `kept` what of a punch stays; `reached_day` is the day that the import has reached,
    `rewritten` says how many of `total` follow."""

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
    """Codes that changed their owner, or whose owner became active or inactive, with more punches than a request marks.
    `reached_*` is the place of the last punch that was looked at: the codes in their order, each from its newest punch
    to its oldest."""

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
    """One code of such a change. `moved`: it has another owner, `host_employee_id`, or none; else what waits on it is
    judged again because of its owner."""

    __tablename__ = "clock_owner_change_codes"
    __table_args__ = (Index(None, "emp_code"),)

    change_id: Mapped[int] = mapped_column(ForeignKey("clock_owner_changes.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    emp_code: Mapped[str]
    host_employee_id: Mapped[int | None]
    moved: Mapped[bool]
