"""Departments and terminals of open problems, as the filters offer them: only what narrows the list."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import case, func, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.problems.models import Problem

DEPARTMENT, TERMINAL = Problem.facts["department"].astext, Problem.facts["terminal"].astext
# What it is called; a version before kept only the serial number with the problems of people.
_NAME_OF_SUBJECT = case((Problem.subject_type == "terminal", Problem.facts["name"].astext))
TERMINAL_NAME = func.coalesce(Problem.facts["terminal_name"].astext, _NAME_OF_SUBJECT)


def _each(name: str) -> str:
    """Each value once: the index is asked for the next one above the last, so the many problems of one place are not read."""
    of_open = f"SELECT facts ->> '{name}' FROM problems WHERE closed_at IS NULL AND facts ->> '{name}' >"
    first = f"ORDER BY facts ->> '{name}' LIMIT 1"
    return f"""{name}s (value) AS (
        ({of_open} '' {first}) UNION ALL SELECT ({of_open} {name}s.value {first}) FROM {name}s WHERE value IS NOT NULL)"""


def _of_each(name: str, shown: str) -> str:
    """What is said of each value by a problem whose kind is seen; null where none has it. With LIMIT it is looked up for each: EXISTS may
    read all problems first."""
    return f"""(SELECT {shown} FROM problems
        WHERE closed_at IS NULL AND facts ->> '{name}' = value AND kind = ANY(CAST(:seen AS text[])) LIMIT 1)"""


# What is open stands; the index on what stands finds the few problems of terminals.
_OFFERED = text(f"""
WITH RECURSIVE {_each("department")}, {_each("terminal")}, called AS (
    SELECT facts ->> 'terminal' AS serial, max(facts ->> 'name') AS name FROM problems
    WHERE stands AND closed_at IS NULL AND kind = ANY(CAST(:seen AS text[])) AND subject_type = 'terminal' GROUP BY 1
), named AS (
    SELECT value, {_of_each("terminal", "coalesce(facts ->> 'terminal_name', value)")} AS name FROM terminals
)
SELECT ARRAY(SELECT value FROM departments WHERE {_of_each("department", "true")}) AS departments,
    ARRAY(SELECT ARRAY[value, coalesce(called.name, named.name)] FROM named LEFT JOIN called ON serial = value
        WHERE named.name IS NOT NULL) AS terminals
""")


class OfferedPlaces(NamedTuple):
    """By what the address says, what the filter shows."""

    departments: Mapping[str, str]
    terminals: Mapping[str, str]


async def offered(db: AsyncSession, seen: Collection[str]) -> OfferedPlaces:
    """Of the kinds that the person sees. One statement; its price is that of the places, and not of the problems."""
    found = (await db.execute(_OFFERED, {"seen": list(seen)})).one()
    return OfferedPlaces({one: one for one in found.departments}, dict(found.terminals))
