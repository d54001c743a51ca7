"""What every page shows of acts on many rows: what each kind is called, who may watch it, and which are current.

Modules offer their kinds (app.wiring), so a page can show acts of modules that it does not know.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import NotFound
from app.long_acts import progress
from app.long_acts.over_lists import CHANGED, REFUSED
from app.long_acts.progress import Progress
from app.long_acts.words import LongActView, LongActWords
from app.web.context import Context
from app.web.long_acts.bulk import LongBulk
from app.web.site import NamedActPage

NO_ACT = "There is no such act."
REASONS = {CHANGED: "changed meanwhile", REFUSED: "refused"}
# At most so many current acts are shown, the newest ones.
MOST = 20
KINDS: dict[str, LongBulk | NamedActPage] = {}


def offer(bulks: Sequence[LongBulk], named: Mapping[str, NamedActPage]) -> None:
    """For the composition root: gives each module's kinds of acts."""
    KINDS.update({one.kind: one for one in bulks})
    KINDS.update(named)


def kind_of(act: Progress) -> LongBulk | NamedActPage:
    """Raises NotFound for a kind that no module knows."""
    if act.kind not in KINDS:
        raise NotFound(NO_ACT)
    return KINDS[act.kind]


def view(act: Progress) -> LongActView:
    """Raises NotFound for a kind that no module knows."""
    known = kind_of(act)
    if isinstance(known, NamedActPage):
        return LongActView(act, known.words)
    words = LongActWords("/acts", known.doing, known.past, *known.what, {**REASONS, **known.left})
    return LongActView(act, words)


async def views(db: AsyncSession, *, over: bool = False, kinds: Collection[str] | None = None) -> list[LongActView]:
    """The newest acts of the workspace, of these kinds or of all: the current ones, and with `over` the ended ones
    too."""
    newest = await progress.newest_of_all(db, KINDS if kinds is None else kinds, MOST, over=over)
    return [view(one) for one in newest]


async def under_way(ctx: Context) -> list[LongActView]:
    """Current acts that the reader may watch, newest first."""
    return await views(ctx.db, kinds=[kind for kind, known in KINDS.items() if known.shows(ctx)])
