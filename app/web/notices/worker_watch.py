"""The notice above every page while no worker is alive, or a worker is alive and does nothing. Nothing else can report
it, because all other reports are work of a worker.

Each web process looks for itself, and seldom, so that a page needs no additional statement.
"""

import time
from datetime import timedelta

from app.problems import sweeps
from app.problems.sweeps import LATE_AFTER
from app.web.context import Context

EVERY_S = 10.0
# Workers serve all workspaces, so only the people who run the platform can start one.
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
    """The watch of one web process. It looks first after `every_s`, so a worker that is started together with it has
    that much time."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s, self._next_look_s = every_s, time.monotonic() + every_s
        self._found: dict[str, str] | None = None

    async def look(self, context: Context) -> None:
        """Called before a page is drawn: asks the database when the last answer is old and the person would see the
        notice."""
        if not _may_see(context) or time.monotonic() < self._next_look_s:
            return
        self._next_look_s = time.monotonic() + self._every_s
        await context.reopen()
        standing = await sweeps.standing(context.db)
        self._found = NOTICE if not standing.workers else IDLE if standing.is_late else None

    def notice(self, context: Context) -> dict[str, str] | None:
        """What the layout shows, by the last look. Pages of errors show it too, without asking the database."""
        return self._found if _may_see(context) else None


def _may_see(context: Context) -> bool:
    return context.on_platform and context.may(SEES)
