"""The step at which the tables of each schema are, and what that means for this program."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from app.db.session import schema_of
from app.db.steps import FITS, MODULES, SHARED, revisions, version_table

# Behind: this program needs steps that are not taken yet.
# Ahead: a newer program only added to the tables; this one may continue.
# Outgrown: a newer program removed what this one needs.
Standing = Literal["behind", "ahead", "outgrown"]
Place = tuple[str, str]
"""A schema and a module."""
_TABLES = text(
    "SELECT n.nspname, c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relname = ANY(:tables) AND n.nspname = ANY(:schemas) AND c.relkind = 'r'"
)
# Each takes a lock for a moment, and a server has only some thousands of locks.
_AT_A_TIME = 300


@dataclass(frozen=True, slots=True)
class Reached:
    """The step of a module in a schema. `needs`: after something was removed,
    the step that a program must know to fit."""

    revision: str | None
    needs: str | None = None


async def read(db: AsyncSession | AsyncConnection, schemas: Iterable[str]) -> dict[Place, Reached]:
    """The step of each module that has tables in these schemas."""
    modules = {version_table(module): module for module in MODULES}
    asked = {"tables": list(modules), "schemas": list(schemas)}
    found = {(schema, modules[table]): note for schema, table, note in await db.execute(_TABLES, asked)}
    reached: dict[Place, Reached] = {}
    places = list(found)
    for first in range(0, len(places), _AT_A_TIME):
        some = places[first : first + _AT_A_TIME]
        rows = await db.execute(text(" UNION ALL ".join(map(_version_of, some))))
        reached |= {(row[0], row[1]): Reached(row[2], _needs(found[row[0], row[1]])) for row in rows}
    return {place: reached.get(place, Reached(None)) for place in found}


def _version_of(place: Place) -> str:
    schema, module = place
    return f"SELECT '{schema}', '{module}', version_num FROM \"{schema}\".{version_table(module)}"


def _needs(note: str | None) -> str | None:
    return note.removeprefix(FITS) if note and note.startswith(FITS) else None


def judge(module: str, reached: Reached | None) -> Standing | None:
    """None when the tables are as this program needs them."""
    known = revisions()[module]
    if reached is None or reached.revision is None:
        return "behind"
    if reached.revision == known[0]:
        return None
    if reached.revision in known:
        return "behind"
    return "ahead" if reached.needs is None or reached.needs in known else "outgrown"


def places_of(workspaces: Sequence[str]) -> list[Place]:
    """The shared one, and every module of these workspaces."""
    own = [module for module in MODULES if module != SHARED]
    return [(SHARED, SHARED), *((schema_of(workspace), module) for workspace in workspaces for module in own)]


async def out_of_step(db: AsyncSession, *workspaces: str) -> Mapping[Place, Standing]:
    """The modules of the shared tables and of these workspaces that are not as this program needs them."""
    places = places_of(workspaces)
    reached = await read(db, {schema for schema, _ in places})
    judged = {place: judge(place[1], reached.get(place)) for place in places}
    return {place: standing for place, standing in judged.items() if standing is not None}
