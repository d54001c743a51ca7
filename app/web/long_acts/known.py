"""Acts on many rows as every page tells of them: what each kind is called, who may watch it, and which are under way.

Modules offer their kinds (app.wiring), so a page tells of acts of modules that it does not know.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import NotFound
from app.long_acts import acts
from app.long_acts.acts import Progress
from app.long_acts.over_lists import CHANGED, REFUSED
from app.web.context import Context
from app.web.long_acts.bulk import LongBulk
from app.web.long_acts.words import LongActView, LongActWords
from app.web.site import NamedActPage

NO_ACT = "There is no such act."
REASONS = {CHANGED: "changed meanwhile", REFUSED: "refused"}
# The newest acts that are told of, among those under way.
MOST = 20
KINDS: dict[str, LongBulk | NamedActPage] = {}


def offer(bulks: Sequence[LongBulk], named: Mapping[str, NamedActPage]) -> None:
    """For the composition root: what is known of the acts of each module."""
    KINDS.update({one.kind: one for one in bulks})
    KINDS.update(named)


def kind_of(progress: Progress) -> LongBulk | NamedActPage:
    """Raises NotFound for a kind that no module knows."""
    if progress.kind not in KINDS:
        raise NotFound(NO_ACT)
    return KINDS[progress.kind]


def view(progress: Progress) -> LongActView:
    """Raises NotFound for a kind that no module knows."""
    known = kind_of(progress)
    if isinstance(known, NamedActPage):
        return LongActView(progress, known.words)
    words = LongActWords("/acts", known.doing, known.past, *known.what, {**REASONS, **known.left})
    return LongActView(progress, words)


async def views(db: AsyncSession, *, over: bool = False) -> list[LongActView]:
    """The newest acts of the workspace: those under way, or with `over` those that ended too."""
    return [view(one) for one in await acts.newest_of_all(db, MOST, over=over) if one.kind in KINDS]


async def under_way(ctx: Context) -> list[LongActView]:
    """Acts under way that the reader may watch, the newest first."""
    return [one for one in await views(ctx.db) if kind_of(one.progress).shows(ctx)]
