"""The tables of long acts, in every workspace. Their names begin with that of the clock, which had them first."""

from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words

_Object = Annotated[dict[str, Any], mapped_column(JSONB, server_default="{}")]


class LongAct(Base):
    """What a person asked for many rows at once. It is carried out in slices, in the request that asked or by a job.

    An act on named items has them in LongActItem, and `reached` is the last one that was answered; `host_employee_id`
    is whom records are moved to, or whom a re-bound code has now. An act over a list has `list_query`, the filter as
    the address had it, and walks through the list's keys: `reached` is the last one that it came to, and nothing beyond
    `last_key` is meant. `total` is None until it was counted, and `counts` says what became of how many.
    """

    __tablename__ = "clock_long_acts"
    __table_args__ = (
        Index("clock_long_acts_open", "id", postgresql_where=text("finished_at IS NULL")),
        Index("clock_long_acts_codes", "emp_codes", postgresql_using="gin"),
    )

    id: Mapped[Id]
    kind: Mapped[str]
    emp_codes: Mapped[Words]
    host_employee_id: Mapped[int | None]
    actor_id: Mapped[int | None]
    actor_name: Mapped[str]
    begun_at: Mapped[Created]
    finished_at: Mapped[datetime | None]
    list_query: Mapped[str | None]
    arguments: Mapped[_Object]
    last_key: Mapped[str | None]
    reached: Mapped[str | None]
    total: Mapped[int | None]
    counts: Mapped[_Object]
    stop_requested: Mapped[bool] = mapped_column(server_default=text("false"))
    stopped_by: Mapped[str | None]
    problem: Mapped[str | None]


class LongActItem(Base):
    """One row of such an act. `became` is null until its turn, then `done` or why it was left; `note` says more. Of an
    act over a list only rows that were left are here."""

    __tablename__ = "clock_long_act_items"

    act_id: Mapped[int] = mapped_column(ForeignKey("clock_long_acts.id", ondelete="CASCADE"), primary_key=True)
    item_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    became: Mapped[str | None]
    note: Mapped[str | None]
