"""Facts that are written in SQL, as a look of app.problems reads them, and the settings among them."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import BigInteger, DateTime, Text, cast, column, select, text
from sqlalchemy.dialects.postgresql import JSONB

from app.clock.mirror import key_uses
from app.clock.settings import EARLIEST, ClockSettings
from app.problems.kinds import COLUMNS, FactSelect

_TYPES: dict[str, Any] = {
    "held_punches": BigInteger,
    "held_people": BigInteger,
    "since": DateTime(timezone=True),
    "evidence": BigInteger,
    "facts": JSONB,
}
_DEFAULTS = ClockSettings(EARLIEST)
# What people call each terminal, with its serial number where several have one name.
_CALLED = "coalesce(nullif(alias, ''), sn)"
TERMINAL_NAMES = f"""SELECT sn, {_CALLED} || CASE WHEN count(*) OVER (PARTITION BY {_CALLED}) > 1 THEN ' (' || sn || ')' ELSE '' END AS name
        FROM clock_devices"""
# The newest punch of the clock that is not of a wrong clock's future.
NEWEST_PUNCH = """SELECT punched_at_utc AS at FROM clock_transactions
        WHERE punched_at_utc <= now() + interval '1 hour' AND local_date <= now()::date + 1
        ORDER BY local_date DESC, punched_at_utc DESC LIMIT 1"""
SINCE = key_uses.SINCE


def sql_facts(kinds: Collection[str], sql: str, *, few: bool = True, mark: str = "") -> FactSelect:
    """`sql` selects the columns of a fact, in their order.
    `few` as in FactSelect; `mark` selects a number as in FactSelect, "" for none."""
    named = text(f"SELECT * FROM ({sql}) AS facts ({', '.join(COLUMNS)})")
    found = named.columns(*(column(name) for name in COLUMNS)).subquery()
    columns = (cast(found.c[name], _TYPES.get(name, Text)).label(name) for name in COLUMNS)
    return FactSelect(frozenset(kinds), select(*columns), few, mark)


def setting(name: str) -> str:
    """The number that holds for a setting, in SQL."""
    default = int(getattr(_DEFAULTS, name))
    return f"coalesce((SELECT (value #>> '{{}}')::int FROM clock_settings WHERE name = '{name}'), {default})"
