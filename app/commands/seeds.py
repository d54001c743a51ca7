"""`db:seed`: demo data by name, tried first, made, and taken away again."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from app.commands import frame

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.demo import DemoEmployee
    from app.parts import Parts
    from app.surveys.demo.seed import DemoRemoval, Made


@click.command("db:seed")
@click.argument("name", type=click.Choice(("ClockDemo", "SurveysDemo")))
@click.option("--dry-run", is_flag=True, help="Print what would be added or removed; write nothing.")
@click.option("--remove", is_flag=True, help="Remove what the seed made.")
@frame.workspace_option
@frame.json_option
def db_seed(*, name: str, dry_run: bool, remove: bool, workspace: str, as_json: bool) -> None:
    """Add demo data; a second run adds nothing. ClockDemo: the staff of the simulated time clock. SurveysDemo: surveys
    of all four types with ninety days of answers, and rated apps."""
    if name == "ClockDemo":
        if dry_run and remove:
            raise click.UsageError("ClockDemo: give --dry-run or --remove, not both")
        _clock(workspace, dry_run=dry_run, remove=remove, as_json=as_json)
    elif remove:
        _remove_surveys(workspace, dry_run=dry_run, as_json=as_json)
    elif dry_run:
        _surveys_planned(workspace, as_json=as_json)
    else:
        _add_surveys(workspace, as_json=as_json)


def _clock(workspace: str, *, dry_run: bool, remove: bool, as_json: bool) -> None:
    from app import demo

    if remove:
        removed = frame.in_transaction(demo.remove, workspace)
        document = {"seed": "ClockDemo", "removed": len(removed)}
        frame.answer(document, f"{len(removed)} employees were deleted.", as_json=as_json)
        return
    wanted = demo.staff(200, 7)

    async def act(db: "AsyncSession") -> "list[DemoEmployee]":
        return await (demo.plan if dry_run else demo.seed)(db, wanted)

    made = frame.in_transaction(act, workspace)
    listed = {"seed": "ClockDemo", "dry_run": dry_run, "employees": [asdict(one) for one in made]}
    word = "would be added" if dry_run else "were added"
    lines = [f"  {one.id_number:10} {one.name:30} {one.gap}" for one in made] if dry_run else []
    frame.answer(listed, *lines, f"{len(made)} employees {word}.", as_json=as_json)


def _surveys_planned(workspace: str, *, as_json: bool) -> None:
    from app.surveys.demo import seed as demo

    planned = frame.in_transaction(demo.plan, workspace)
    document = {
        "seed": "SurveysDemo",
        "dry_run": True,
        "surveys": [one.definition.title for one in planned.surveys],
        "people": [one.email for one in planned.people],
        "apps": [one.name for one in planned.apps],
    }
    lines = [
        f"  {one.definition.type:9} {one.definition.enforcement:9} {one.definition.title}" for one in planned.surveys
    ]
    lines += [f"  app       {one.name}" for one in planned.apps]
    told = "Nothing would be added."
    if planned.surveys or planned.apps:
        told = f"{len(planned.people)} people would be invented to answer them."
    frame.answer(document, *lines, told, as_json=as_json)


def _add_surveys(workspace: str, *, as_json: bool) -> None:
    from app.surveys.demo import seed as demo

    async def act(parts: "Parts") -> "Made":
        async with parts.database.transaction(workspace) as db:
            return await demo.seed(db, parts.keys, datetime.now(UTC))

    made = frame.with_parts(act, workspace=workspace)
    document = {"seed": "SurveysDemo", "added": asdict(made)}
    numbers = (made.surveys, made.people, made.responses, made.apps, made.ratings)
    frame.answer(document, f"{_counted(numbers)} were added.", as_json=as_json)


def _remove_surveys(workspace: str, *, dry_run: bool, as_json: bool) -> None:
    """Says what goes by name, and what is kept from the people who are asked,
    since some of them answered or rated it."""
    from app.surveys.demo import seed as demo

    async def act(db: "AsyncSession") -> "tuple[DemoRemoval, Made | None]":
        return await demo.leaving(db), None if dry_run else await demo.remove(db)

    going, gone = frame.in_transaction(act, workspace)
    surveys, apps = (
        {"surveys": going.surveys, "archived": going.archived},
        {"apps": going.apps, "retired": going.retired},
    )
    document = {"seed": "SurveysDemo", "dry_run": dry_run, **surveys, **apps, "kept": going.kept}
    if gone is None:
        document |= {"people": going.people, "responses": going.responses, "ratings": going.ratings}
        numbers = (len(going.surveys), going.people, going.responses, len(going.apps), going.ratings)
    else:
        document["removed"] = asdict(gone)
        numbers = (gone.surveys, gone.people, gone.responses, gone.apps, gone.ratings)
    told = f"{_counted(numbers)} {'would be' if dry_run else 'were'} removed."
    frame.answer(document, *_named(going), told, as_json=as_json)


def _named(going: "DemoRemoval") -> Iterator[str]:
    for title in going.surveys:
        yield f"  survey    {title}"
    for title in going.archived:
        yield f"  archived  {title} (people answered it)"
    for name in going.apps:
        yield f"  app       {name}"
    for name in going.retired:
        yield f"  retired   {name} (people rated it)"
    for email in going.kept:
        yield f"  kept      {email} (this account was used)"


def _counted(numbers: tuple[int, int, int, int, int]) -> str:
    surveys, people, responses, apps, ratings = numbers
    return f"{surveys} surveys, {people} people, {responses} responses, {apps} apps and {ratings} ratings"


COMMANDS = (db_seed,)
