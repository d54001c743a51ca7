"""Cancels what runs beside the jobs until it has ended. How a job ends: claims.py.

One cancellation is not enough: before Python 3.12 `asyncio.wait_for`, which SAQ and psycopg's pool use, swallows a
cancellation that comes at the moment in which its own wait ends. The cancelled task then continues, as a worker that
never ends.
"""

import asyncio
from typing import Any

from saq import Worker

AGAIN_S = 0.5
# How long SAQ gives a cancelled job of its own; we wait a little longer before we cancel again.
CANCELLED_S = 5.0
GIVING_BACK_S = CANCELLED_S + 1


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancels the tasks until they have ended. Raises no exception of theirs."""
    while waiting := [one for one in tasks if not one.done()]:
        _cancel(waiting)
        await asyncio.wait(waiting, timeout=AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)


def is_cancelled() -> bool:
    """True when the running task was cancelled, even if the cancellation was swallowed. For loops that a task group
    ends."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class EndingWorker(Worker[Any]):
    """SAQ's worker, whose tasks are cancelled until they end. A job that is being given back is not cancelled for
    that."""

    async def stop(self) -> None:
        self.event.set()
        tasks = list(self.tasks)
        _cancel(tasks)
        while waiting := [one for one in tasks if not one.done()]:
            await asyncio.wait(waiting, timeout=GIVING_BACK_S if self.job_task_contexts else AGAIN_S)
            _cancel(waiting)
        await super().stop()


def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
