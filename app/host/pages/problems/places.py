"""Departments and terminals of open problems, as the filters offer them: only what narrows the list."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import case, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.problems.models import Problem

DEPARTMENT, TERMINAL = Problem.facts["department"].astext, Problem.facts["terminal"].astext
# Problems of a terminal know what it is called, those of people only its serial number.
TERMINAL_NAME = case((Problem.subject_type == "terminal", Problem.facts["name"].astext))


def _each(name: str) -> str:
    """Each value once: the index is asked for the next one above the last, so the many problems of one place are not read."""
    of_open = f"SELECT facts ->> '{name}' FROM problems WHERE closed_at IS NULL AND facts ->> '{name}' >"
    first = f"ORDER BY facts ->> '{name}' LIMIT 1"
    return f"""{name}s (value) AS (
        ({of_open} '' {first}) UNION ALL SELECT ({of_open} {name}s.value {first}) FROM {name}s WHERE value IS NOT NULL)"""


def _seen(name: str) -> str:
    """Those that a problem has whose kind is seen. With LIMIT it is looked up for each; EXISTS may read all problems first."""
    return f"""ARRAY(SELECT value FROM {name}s WHERE (SELECT true FROM problems
        WHERE closed_at IS NULL AND facts ->> '{name}' = value AND kind = ANY(CAST(:seen AS text[])) LIMIT 1))"""


# What is open stands; the index on what stands finds the few problems of terminals.
_OFFERED = text(f"""
WITH RECURSIVE {_each("department")}, {_each("terminal")}, named AS (
    SELECT facts ->> 'terminal' AS serial, max(facts ->> 'name') AS name FROM problems
    WHERE stands AND closed_at IS NULL AND kind = ANY(CAST(:seen AS text[])) AND subject_type = 'terminal' GROUP BY 1
)
SELECT {_seen("department")} AS departments, {_seen("terminal")} AS terminals,
    ARRAY(SELECT ARRAY[serial, name] FROM named WHERE serial <> '' AND name IS NOT NULL) AS names
""")


class OfferedPlaces(NamedTuple):
    """By what the address says, what the filter shows."""

    departments: Mapping[str, str]
    terminals: Mapping[str, str]


async def offered(db: AsyncSession, seen: Collection[str]) -> OfferedPlaces:
    """Of the kinds that the person sees. One statement; its price is that of the places, and not of the problems."""
    found = (await db.execute(_OFFERED, {"seen": list(seen)})).one()
    names = dict(found.names)
    return OfferedPlaces({one: one for one in found.departments}, {one: names.get(one, one) for one in found.terminals})
