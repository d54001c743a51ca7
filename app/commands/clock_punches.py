"""`clock:retry`, `clock:use`, `clock:settle`: what a person decides about punches. All have the same filters."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import date
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from app.commands import frame
from app.counting import count

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.accounts.audit import Actor
    from app.clock.review.decisions import Resolved
    from app.long_acts.progress import Progress

    Verb = Callable[[AsyncSession, Actor, ColumnElement[bool]], Awaitable[Resolved]]
    Decide = Callable[[AsyncSession, ColumnElement[bool]], Awaitable[Resolved]]
PART = 20_000


def _chosen_punches(command: Callable[..., None]) -> Callable[..., None]:
    """The filters of the commands on punches. They give the command `which`, a condition."""

    @click.option("--emp-code", metavar="C", help="Punches of this code alone.")
    @click.option("--from", "first", type=frame.DAY, help="First local day.")
    @click.option("--to", "last", type=frame.DAY, help="Last local day, included.")
    @click.option("--outcome", metavar="O", help="Only punches with this outcome, such as attendance_deleted.")
    @wraps(command)
    def chosen(
        *, emp_code: str | None, first: date | None, last: date | None, outcome: str | None, **others: Any
    ) -> None:
        command(which=_condition(emp_code, first, last, outcome), **others)

    return chosen


def _condition(
    emp_code: str | None, first: date | None, last: date | None, outcome: str | None
) -> "ColumnElement[bool]":
    from sqlalchemy import and_, true

    from app.clock.models import Punch
    from app.clock.outcomes import Outcome

    if outcome is not None and outcome not in set(Outcome):
        raise click.UsageError(f"there is no outcome {outcome}; there are {', '.join(Outcome)}")
    frame.refuse_backwards(first, last)
    conditions = [
        Punch.emp_code == emp_code if emp_code else None,
        Punch.local_date >= first if first else None,
        Punch.local_date <= last if last else None,
        Punch.import_outcome == outcome if outcome else None,
    ]
    return and_(true(), *(condition for condition in conditions if condition is not None))


@click.command("clock:retry")
@_chosen_punches
@frame.workspace_option
@frame.json_option
def clock_retry(*, which: "ColumnElement[bool]", workspace: str, as_json: bool) -> None:
    """Judge punches again. Deleted records may come back; punches that belong to a record stay as they are."""
    from app.clock.review import decisions

    done = _in_parts(partial(_as_command, decisions.retry), which, decisions.RETRIABLE, workspace)
    waiting = "" if done.outcomes is not None else "; the import follows in the background"
    document = {"punches": done.punches, "outcomes": done.outcomes}
    frame.answer(document, f"{done.punches} punches are judged again{waiting}.", as_json=as_json)


@click.command("clock:use")
@_chosen_punches
@frame.workspace_option
@frame.json_option
def clock_use(*, which: "ColumnElement[bool]", workspace: str, as_json: bool) -> None:
    """Use the punches that arrived after import: records change to what the shifts are now. Refused shifts stay."""
    from app.accounts.audit import COMMAND_LINE
    from app.clock.review import using_many

    progress = frame.in_transaction(lambda db: using_many.use(db, COMMAND_LINE, which), workspace)
    document = {"punches": progress.total, "used": progress.done, "left": progress.left}
    finished = {"finished": progress.finished_at is not None}
    frame.answer({**document, **finished}, told(progress), as_json=as_json)


@click.command("clock:settle")
@_chosen_punches
@click.option("--note", metavar="TEXT", help="Why; shown with the punch and kept in the audit.")
@click.option("--undo", is_flag=True, help="Not settled: the punches need a person again.")
@frame.workspace_option
@frame.json_option
def clock_settle(*, which: "ColumnElement[bool]", note: str | None, undo: bool, workspace: str, as_json: bool) -> None:
    """Settle punches that need a person: their outcome stays, and they leave the counts; --undo reverses it."""
    from app.clock.review import settling

    if undo and note is not None:
        raise click.UsageError("--note and --undo exclude each other")
    if undo:
        undone = partial(_as_command, settling.unsettle)
        done = _in_parts(undone, which, settling.UNSETTLEABLE, workspace)
        sentence = f"{count(done.punches, 'punch needs', 'punches need')} a person again."
    else:
        settled = partial(_as_command, partial(settling.settle, note=note))
        done = _in_parts(settled, which, settling.SETTLEABLE, workspace)
        sentence = f"{count(done.punches, 'punch is', 'punches are')} settled."
    frame.answer({"punches": done.punches, "outcomes": done.outcomes}, sentence, as_json=as_json)


def _in_parts(
    decide: "Decide", which: "ColumnElement[bool]", able: "ColumnElement[bool]", workspace: str
) -> "Resolved":
    """Decides about `PART` punches in each transaction, so that no other work waits for all of them. When the command
    is killed and run again, it does the rest."""
    from app.clock.review.decisions import Resolved

    punches, outcomes, reached, waits = 0, Counter[str](), 0, False
    while True:
        last, done = frame.in_transaction(partial(_part, decide, (which, able), reached), workspace)
        punches, waits = punches + done.punches, waits or done.outcomes is None
        outcomes.update(done.outcomes or {})
        if last is None:
            return Resolved(punches, None if waits else dict(outcomes))
        reached = last


async def _as_command(verb: "Verb", db: "AsyncSession", which: "ColumnElement[bool]") -> "Resolved":
    from app.accounts.audit import COMMAND_LINE

    return await verb(db, COMMAND_LINE, which)


async def _part(
    decide: "Decide", chosen: "tuple[ColumnElement[bool], ...]", reached: int, db: "AsyncSession"
) -> "tuple[int | None, Resolved]":
    """What became of the next punches, and the last one's id if there may be more."""
    from sqlalchemy import select

    from app.clock.models import Punch
    from app.db.among import among

    found = select(Punch.id).where(*chosen, Punch.id > reached).order_by(Punch.id).limit(PART)
    ids = list(await db.scalars(found))
    return ids[-1] if len(ids) == PART else None, await decide(db, among(Punch.id, ids))


def told(progress: "Progress") -> str:
    """What a long act did, or that a job carries it out."""
    from app.clock.review import long_act_words

    return long_act_words.told(progress).sentence


COMMANDS = (clock_retry, clock_use, clock_settle)
