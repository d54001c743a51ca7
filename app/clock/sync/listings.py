"""Syncs one complete listing: organisation, terminals or people.
Resumes where the last run was cut, if that was just now."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.mirror import cursors, missing_rows
from app.clock.mirror.counts import Counts
from app.clock.mirror.cursors import START, WalkPosition
from app.clock.mirror.listing_rows import LISTINGS, known_codes, write_listing
from app.clock.parsing import Parsed, Unit
from app.clock.remote import Page
from app.clock.sync.page_walk import WalkEnd, walk
from app.clock.sync.run_state import RunState

WALKS = 4
SET_ASIDE = "Rows were set aside, so no row counts as missing."
_REFERS_TO = {
    "departments": ("departments",),
    "positions": ("positions",),
    "areas": ("areas",),
    "devices": ("areas",),
    "employees": ("departments", "positions", "areas"),
}
PARENTS = frozenset({"departments", "positions", "areas"})
_SEEN = {
    resource: text(f"SELECT count(*) FROM {listing.table} WHERE seen = :generation")
    for resource, listing in LISTINGS.items()
}


class ListingWalk:
    """The pages of one listing on their way into its table. `ids` are those of all walks of this run together."""

    def __init__(self, run: RunState, resource: str, generation: int, known: dict[str, dict[str, str]]) -> None:
        self.run = run
        self.resource = resource
        self.generation = generation
        self.known = known
        self.ids: set[str] = set()
        self.set_aside = 0
        self.children: list[Unit] = []

    async def fetch(self, number: int) -> Page:
        return await self.run.remote.fetch_page(self.resource, number, self.run.settings.page_size)

    async def write(self, page: Page, position: WalkPosition) -> None:
        parsed = self._parsed(page.rows)
        async with self.run.writing(resource=self.resource, page=page.number, total=position.total) as step:
            counts = await write_listing(step.db, self.resource, self.generation, parsed.rows, self.known)
            await self.run.keep_aside(step, self.resource, parsed.set_aside)
            step.count(self.resource, counts + Counts(fetched=len(page.rows), set_aside=len(parsed.set_aside)))
            noted = {"note": SET_ASIDE} if parsed.set_aside else {}
            await cursors.move(step.db, self.resource, "", position, **noted)
        self.ids.update(row.remote_id for row in parsed.rows)
        self.set_aside += len(parsed.set_aside)
        self._remember(parsed.rows)

    def _remember(self, rows: Sequence[Any]) -> None:
        """Units may name a parent by an id alone, and it may stand behind them in the list."""
        if self.resource in PARENTS:
            self.known[self.resource] |= {unit.remote_id: unit.code for unit in rows}
            self.children += [unit for unit in rows if unit.parent and not unit.parent.code]

    async def place_children(self, db: AsyncSession) -> None:
        """Writes the units again that named a parent by its id, now that every id of the listing is known."""
        await write_listing(db, self.resource, self.generation, self.children, self.known)

    def _parsed(self, rows: list[Any]) -> Parsed[Any]:
        if self.resource == "employees":
            return self.run.parser.employees(rows)
        if self.resource == "devices":
            return self.run.parser.devices(rows)
        return self.run.parser.units(self.resource, rows)


async def sync_listing(run: RunState, resource: str) -> None:
    """Walks the listing until it is complete; then, and only then, says who is missing."""
    begun = await _begin(run, resource)
    if begun is None:
        return
    walking, position = begun
    resumed = position.page > 0
    while True:
        walking.set_aside = 0
        end, position = await walk(run, position, walking.fetch, walking.write)
        total = position.total or 0
        if end is WalkEnd.REACHED and await _all_came(walking, total, resumed=resumed):
            await _complete(walking)
            return
        if position.walks + 1 >= WALKS:
            await _leave_open(run, resource, f"{len(walking.ids)} of {total} {resource} came in {WALKS} walks.")
            return
        position, resumed = position.again(), False


async def _begin(run: RunState, resource: str) -> tuple[ListingWalk, WalkPosition] | None:
    """The walk and where it stands; None when the listing was just read."""
    async with run.writing(resource=resource) as step:
        found = await cursors.read(step.db, resource)
        if run.has_just_read(found):
            return None
        known = await known_codes(step.db, _REFERS_TO.get(resource, ()))
        if found is not None and (left_off := run.left_off(found)):
            return ListingWalk(run, resource, found.generation, known), left_off
        generation = found.generation + 1 if found is not None else 1
        position = replace(START, began_at=run.now())
        await cursors.write(
            step.db, resource, "", kind="listing", state="open", generation=generation, note=None, **position.columns()
        )
    return ListingWalk(run, resource, generation, known), position


async def _all_came(walking: ListingWalk, total: int, *, resumed: bool) -> bool:
    """A walk that continues another run knows only from the table what came before."""
    if not resumed:
        return len(walking.ids) + walking.set_aside >= total
    async with walking.run.parts.database.transaction(walking.run.workspace) as db:
        seen = await db.scalar(_SEEN[walking.resource], {"generation": walking.generation})
    return (seen or 0) + walking.set_aside >= total


async def _complete(walking: ListingWalk) -> None:
    run, resource = walking.run, walking.resource
    async with run.writing(resource=resource) as step:
        await walking.place_children(step.db)
        found = await cursors.read(step.db, resource)
        if found is not None and found.note == SET_ASIDE:
            await cursors.write(step.db, resource, "", kind="listing", state="complete")
            return
        missing, believed = await missing_rows.mark_missing(
            step.db, resource, run.run_id, walking.generation, run.now()
        )
        if not believed:
            run.findings.setdefault("refused", []).append(resource)
        step.count(resource, Counts(missing=missing))


async def _leave_open(run: RunState, resource: str, note: str) -> None:
    run.findings.setdefault("incomplete", []).append(f"{resource}: {note}")
    async with run.writing(resource=resource) as step:
        await cursors.write(step.db, resource, "", kind="listing", state="open", note=note, page=0)
