"""The notice over every page while no worker is alive: nothing else can tell of it, since all that tells is work of a worker.

Each web process looks for itself, and seldom: a page costs no statement more for it.
"""

import time

from sqlalchemy import exists, func, select

from app.accounts.models import WorkerHeartbeat
from app.jobs import WORKER_SILENT_AFTER
from app.web.context import Context

EVERY_S = 10.0
# Workers serve all workspaces: who runs the platform can start one.
SEES = "admin.jobs"
NOTICE = {
    "level": "danger",
    "text": "No worker is running: nothing is synced, imported or mailed until one starts.",
    "url": "/admin/jobs",
    "action": "See jobs and workers",
}
_ALIVE = select(exists().where(WorkerHeartbeat.seen_at > func.now() - WORKER_SILENT_AFTER))


class WorkerWatch:
    """Of one web process. It looks first after `every_s`: a worker that is started together with it has so long to be there."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s, self._next_look_s = every_s, time.monotonic() + every_s
        self._are_gone = False

    async def look(self, context: Context) -> None:
        """Before a page is drawn: asks the database, where the last answer is old and the person would see it."""
        if not _may_see(context) or time.monotonic() < self._next_look_s:
            return
        self._next_look_s = time.monotonic() + self._every_s
        await context.reopen()
        self._are_gone = not await context.db.scalar(_ALIVE)

    def notice(self, context: Context) -> dict[str, str] | None:
        """What the layout shows, by the last look. Pages of errors show it too, and ask nothing."""
        return NOTICE if self._are_gone and _may_see(context) else None


def _may_see(context: Context) -> bool:
    return context.on_platform and context.may(SEES)
