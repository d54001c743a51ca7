"""The automatic pass over all codes: reads them, has matching.py decide, and writes what changed. What people do to
bindings: actions.py.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.clock.bindings import matching
from app.clock.bindings import rows as binding_rows
from app.clock.bindings.code_states import Code
from app.clock.bindings.directory import Directory, directory
from app.clock.bindings.similar_names import ComparedNames
from app.clock.codes import BindingState

# A worker that stops waits for the names that are compared at the moment.
_COMPARED_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class MatchResult:
    """What a pass did, as codes: those whose binding changed, and those of them that became conflicts (TC-CONFLICT)."""

    changed: tuple[str, ...]
    new_conflicts: tuple[str, ...]


async def match_all(db: AsyncSession, compared: ComparedNames | None = None) -> MatchResult:
    """The automatic pass over every code. A second one changes nothing. It is noted in the binding history, not in the
    audit. `compared` is what `compare_names` returned before this transaction."""
    await binding_rows.hold(db)
    await binding_rows.make_missing(db)
    return await match_held(db, compared=compared)


async def compare_names(open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]]) -> ComparedNames:
    """Compares the names that a pass will need. Meanwhile no transaction is open, and acts on bindings do not wait."""
    async with open_transaction() as db:
        await binding_rows.hold(db)
        await binding_rows.make_missing(db)
        codes, host = await _read(db)
    compared = ComparedNames(host.folded_names)
    names = sorted(await asyncio.to_thread(matching.undecided, codes, host))
    for first in range(0, len(names), _COMPARED_AT_ONCE):
        await asyncio.to_thread(compared.compare, names[first : first + _COMPARED_AT_ONCE])
    return compared


async def _read(db: AsyncSession, compared: ComparedNames | None = None) -> tuple[list[Code], Directory]:
    codes = await binding_rows.read_all(db)
    people, kiosk, ignore_zeros = await binding_rows.read_host(db)
    return codes, await asyncio.to_thread(
        directory, people, kiosk, ignore_leading_zeros=ignore_zeros, compared=compared
    )


async def match_held(
    db: AsyncSession, *, compared: ComparedNames | None = None, by_name: Collection[str] | None = None
) -> MatchResult:
    """Decides, for a caller that holds the bindings. With `by_name`, names of other undecided codes are left to a later
    pass."""
    codes, host = await _read(db, compared)
    # Each name is compared with all others. With many people this takes seconds, and other requests must not wait for
    # it.
    changes = await asyncio.to_thread(matching.match, codes, host, by_name=by_name)
    await binding_rows.write(db, audit.SYSTEM.name, changes)
    news = [change for change in changes if change.is_news]
    conflicts = [
        one for one in news if one.decision.state == BindingState.CONFLICT and one.code.state != one.decision.state
    ]
    return MatchResult(tuple(one.code.emp_code for one in news), tuple(one.code.emp_code for one in conflicts))
