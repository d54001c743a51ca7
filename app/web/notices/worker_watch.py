"""The notice over every page while no worker is alive, or one is alive and does nothing: nothing else can tell of it, since all that tells
is work of a worker.

Each web process looks for itself, and seldom: a page costs no statement more for it.
"""

import time
from datetime import timedelta

from app.problems import sweeps
from app.problems.sweeps import LATE_AFTER
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
IDLE = {
    "level": "danger",
    "text": f"A worker is alive, but no look for problems has succeeded for more than {LATE_AFTER // timedelta(minutes=1)} minutes."
    " If one failed, Jobs says why; otherwise restart the worker.",
    "url": "/admin/jobs",
    "action": "See jobs and workers",
}


class WorkerWatch:
    """Of one web process. It looks first after `every_s`: a worker that is started together with it has so long to be there."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s, self._next_look_s = every_s, time.monotonic() + every_s
        self._found: dict[str, str] | None = None

    async def look(self, context: Context) -> None:
        """Before a page is drawn: asks the database, where the last answer is old and the person would see it."""
        if not _may_see(context) or time.monotonic() < self._next_look_s:
            return
        self._next_look_s = time.monotonic() + self._every_s
        await context.reopen()
        standing = await sweeps.standing(context.db)
        self._found = NOTICE if not standing.workers else IDLE if standing.is_late else None

    def notice(self, context: Context) -> dict[str, str] | None:
        """What the layout shows, by the last look. Pages of errors show it too, and ask nothing."""
        return self._found if _may_see(context) else None


def _may_see(context: Context) -> bool:
    return context.on_platform and context.may(SEES)
