"""Departments and terminals of open problems, as the filters offer them: only what narrows the list."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import case, func, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.problems.models import Problem

DEPARTMENT, TERMINAL = Problem.facts["department"].astext, Problem.facts["terminal"].astext
# The terminal's name. An earlier version kept only its serial number with problems of people.
_NAME_OF_SUBJECT = case((Problem.subject_type == "terminal", Problem.facts["name"].astext))
TERMINAL_NAME = func.coalesce(Problem.facts["terminal_name"].astext, _NAME_OF_SUBJECT)


def _each(name: str) -> str:
    """Finds each value once: it asks the index for the next value above the last one, and so does not read the many
    problems of one place."""
    of_open = f"SELECT facts ->> '{name}' FROM problems WHERE closed_at IS NULL AND facts ->> '{name}' >"
    first = f"ORDER BY facts ->> '{name}' LIMIT 1"
    return f"""{name}s (value) AS (
        ({of_open} '' {first}) UNION ALL SELECT ({of_open} {name}s.value {first}) FROM {name}s WHERE value IS NOT NULL)"""


def _of_each(name: str, shown: str) -> str:
    """`shown` from one problem that has the value and a kind that the person sees; null when there is none. LIMIT 1
    makes PostgreSQL look up each value: for EXISTS it may read all problems first."""
    return f"""(SELECT {shown} FROM problems
        WHERE closed_at IS NULL AND facts ->> '{name}' = value AND kind = ANY(CAST(:seen AS text[])) LIMIT 1)"""


# Every open problem stands, so the condition `stands` changes nothing. It lets PostgreSQL use the index on what stands,
# which finds the few problems of terminals.
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
    """What the filters offer: the value in the address, and the text that is shown."""

    departments: Mapping[str, str]
    terminals: Mapping[str, str]


async def offered(db: AsyncSession, seen: Collection[str]) -> OfferedPlaces:
    """The places of open problems, of the kinds that the person sees. One statement; its cost grows with the places,
    and not with the problems."""
    found = (await db.execute(_OFFERED, {"seen": list(seen)})).one()
    return OfferedPlaces({one: one for one in found.departments}, dict(found.terminals))
