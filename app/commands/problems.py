"""`problems`: what a person should do in a workspace."""

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

import click

from app.commands import frame
from app.counting import count

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

# Of each kind, for a person; --json has all of them.
SHOWN = 20


@click.command("problems")
@click.option("--kind", metavar="KIND", help="Only this kind, such as silence; docs/problems.md lists all.")
@frame.workspace_option
@frame.json_option
def problems(*, kind: str | None, workspace: str, as_json: bool) -> None:
    """The open problems of a workspace, by kind, those with most harm first. Snoozed ones are included."""
    from app import wiring
    from app.problems.kinds import kinds, shown

    wiring.connect()
    if kind is not None and kind not in kinds():
        frame.refuse(f"There is no kind {kind!r}. It is one of: {', '.join(sorted(kinds()))}.")

    async def look(db: "AsyncSession") -> Sequence[Any]:
        from app.accounts import policies
        from app.host.problem_kinds.workers import look_without_worker
        from app.problems import queries

        await look_without_worker(db)
        here = shown(workspace, await policies.read(db, workspace))
        wanted = queries.ProblemFilter([one for one in here if kind in (None, one)], "unclosed")
        return await queries.most_harm_first(db, wanted)

    rows = frame.in_transaction(look, workspace)
    by_kind: dict[str, list[Any]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, []).append(row)
    lines = [line for name, some in by_kind.items() for line in _lines(kinds()[name].label, some)]
    frame.answer([_told(row) for row in rows], *(lines or [_nothing(kind)]), as_json=as_json)


def _nothing(kind: str | None) -> str:
    return "No problem of this kind is open." if kind else "Nothing waits for a person."


def _lines(label: str, rows: Sequence[Any]) -> list[str]:
    more = [f"  … and {len(rows) - SHOWN:,} more"] if len(rows) > SHOWN else []
    return [f"{label} ({rows[0].severity}): {len(rows):,}", *(f"  {_line(row)}" for row in rows[:SHOWN]), *more]


def _line(row: Any) -> str:
    held = [
        count(row.held_punches, "punch", "punches") if row.held_punches else "",
        count(row.held_people, "person", "people") if row.held_people else "",
    ]
    holds = f" Holds {', '.join(filter(None, held))}." if any(held) else ""
    return f"{row.id}  {row.title}, since {row.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC.{holds}"


def _told(row: Any) -> dict[str, Any]:
    plain = ("id", "kind", "severity", "subject_type", "subject_id", "title", "detail", "held_punches", "held_people")
    instants = ("since", "opened_at", "last_seen_at", "snoozed_until")
    told = {name: getattr(row, name) for name in plain}
    return told | {name: frame.instant(getattr(row, name)) for name in instants} | {"assigned_to": row.assignee}


COMMANDS = (problems,)
