"""The jobs that carry acts out: their names, their keys, and which acts have one.
What the jobs do: acts.py and over_lists.py."""

from sqlalchemy import ColumnElement, case, exists, func
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts.models import OPEN_JOB, Job
from app.db.session import workspace_of
from app.long_acts.models import LongAct

# On named items, on items that the job names first, and over a list. A worker of an older version would take NAMED_JOB,
# find no items yet, and end the act without doing anything. It does not take a job whose name it does not know.
NAMED_JOB, UNNAMED_JOB, LISTED_JOB = "clock_long_act", "clock_unnamed_act", "long_act"
JOB_OF_ACT = case(
    (LongAct.list_query.is_not(None), LISTED_JOB), (LongAct.last_key.is_not(None), UNNAMED_JOB), else_=NAMED_JOB
)
_ENDINGS = ("", ":stop", ":again")


async def request_job(db: AsyncSession, name: str, act_id: int) -> bool:
    """False when the act's job waits or runs already, which is enough."""
    return await jobs.request(db, name, key=f"{name}:{act_id}", arguments={"act_id": act_id}) is not None


async def request_stop(db: AsyncSession, name: str, act_id: int) -> None:
    """The running job may be at its last attempt, and fail before it sees that it must stop. Another job then ends the
    act."""
    await _request_another(db, name, act_id, ":stop")


async def request_again(db: AsyncSession, name: str, act_id: int) -> None:
    """For the job of the act itself, which is running: another one then continues the act."""
    await _request_another(db, name, act_id, ":again")


async def _request_another(db: AsyncSession, name: str, act_id: int, ending: str) -> None:
    if not await request_job(db, name, act_id):
        await jobs.request(db, name, key=f"{name}:{act_id}{ending}", arguments={"act_id": act_id})


def has_job(db: AsyncSession) -> ColumnElement[bool]:
    """True when a job of the act waits or runs. A part of a SELECT of acts."""
    keys = [func.concat(JOB_OF_ACT, ":", LongAct.id, ending) for ending in _ENDINGS]
    return exists().where(Job.workspace == workspace_of(db), Job.key.in_(keys), OPEN_JOB)
