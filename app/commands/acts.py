"""`acts:list`, `acts:stop`: acts on many rows that a job carries out."""

from typing import TYPE_CHECKING, Any

import click

from app.commands import frame

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.clock.punches.changes import UnderWay
    from app.long_acts.words import LongActView


@click.command("acts:list")
@click.option("--all", "over", is_flag=True, help="Those that ended, too.")
@frame.workspace_option
@frame.json_option
def acts_list(*, over: bool, workspace: str, as_json: bool) -> None:
    """Show the progress of acts on many rows, and of changed rules, terminals, owners and zones: the newest 20."""
    from app.clock.punches import changes

    async def look(db: "AsyncSession") -> "tuple[list[LongActView], list[UnderWay]]":
        return await _views(db, over=over), await changes.under_way(db)

    acts, punches = frame.in_transaction(look, workspace)
    document = {"acts": [_told(one) for one in acts], "changes": [_told_change(one) for one in punches]}
    lines = [_line(one) for one in acts] + [f"{one.line}." for one in punches]
    frame.answer(document, *(lines or ["Nothing is under way."]), as_json=as_json)


async def _views(db: "AsyncSession", *, over: bool) -> "list[LongActView]":
    """The page of an act says what it is called. Pages take longer to load than all else, so they are loaded only if
    there is an act."""
    from app.long_acts import progress

    if not await progress.are_there(db, over=over):
        return []
    from app import wiring
    from app.web.long_acts import known

    wiring.connect_pages()
    return await known.views(db, over=over)


def _told(act: "LongActView") -> dict[str, Any]:
    progress = act.progress
    return {
        "id": progress.id,
        "kind": progress.kind,
        "by": progress.actor_name,
        "begun_at": frame.instant(progress.begun_at),
        "finished_at": frame.instant(progress.finished_at),
        "total": progress.total if progress.counted else None,
        "job_failed": progress.job_failed,
        "looked_at": progress.looked_at,
        "done": progress.done,
        "left": progress.left,
        "stopped_by": progress.stopped_by,
        "problem": progress.problem,
    }


def _told_change(one: "UnderWay") -> dict[str, Any]:
    return {"what": one.label, "judged": one.judged, "total": one.total}


def _line(act: "LongActView") -> str:
    waits = f" {act.next}" if act.progress.stops or act.progress.job_failed else ""
    said = act.sentence if act.is_over else f"{act.words.doing}: {act.numbers}.{waits}"
    return f"{act.progress.id}  {said} Asked for by {act.progress.actor_name}."


@click.command("acts:stop")
@click.argument("act_id", metavar="ID", type=frame.ID)
@frame.workspace_option
@frame.json_option
def acts_stop(*, act_id: int, workspace: str, as_json: bool) -> None:
    """End an act on many rows after its present part; what was done stays done."""
    from app.accounts.audit import COMMAND_LINE
    from app.long_acts import acts

    frame.in_transaction(lambda db: acts.stop(db, COMMAND_LINE, act_id), workspace)
    sentence = "It stops after the part that it is at. What was done stays done."
    frame.answer({"id": act_id, "stops": True}, sentence, as_json=as_json)


COMMANDS = (acts_list, acts_stop)
