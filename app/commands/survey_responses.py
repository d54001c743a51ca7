"""`surveys:responses`: the responses of one survey as a table, in a file or on standard output."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from datetime import date
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import UUID

import click

from app.commands import frame
from app.surveys.words import OUTCOMES

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.parts import Parts
    from app.surveys.results.tallies import TallyScope
    from app.web.exports import ExportSource

NEEDS_FILE = "An Excel file is not text: give --output FILE."


@click.command("surveys:responses")
@click.argument("uid", type=click.UUID)
@click.option("--format", "kind", type=click.Choice(("csv", "jsonl", "xlsx")), default="csv", show_default=True)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A file. Default: standard output.")
@click.option("--version", "number", type=click.IntRange(1, 2**31 - 1), help="Default: the current version.")
@click.option("--all-versions", is_flag=True, help="With the questions of all versions.")
@click.option("--from", "first", type=frame.DAY, help="First UTC day, YYYY-MM-DD.")
@click.option("--to", "last", type=frame.DAY, help="Last UTC day, included.")
@click.option(
    "--outcome", "outcomes", type=click.Choice(tuple(OUTCOMES)), multiple=True, help="May be given several times."
)
@click.option("--bom", is_flag=True, help="Put a byte order mark before a CSV.")
@frame.workspace_option
def surveys_responses(
    *,
    uid: UUID,
    kind: str,
    output: Path | None,
    number: int | None,
    all_versions: bool,
    first: date | None,
    last: date | None,
    outcomes: tuple[str, ...],
    bom: bool,
    workspace: str,
) -> None:
    """Write the responses of a survey as a table: one row each, one column for each question."""
    if number is not None and all_versions:
        raise click.UsageError("give --version or --all-versions, not both")
    frame.refuse_backwards(first, last)
    if kind == "xlsx" and output is None:
        raise click.UsageError(NEEDS_FILE)

    async def act(parts: "Parts") -> None:
        from app.surveys.results.tallies import TallyScope
        from app.web import exports

        async with parts.database.transaction(workspace) as db:
            scope = TallyScope(outcomes=outcomes or None, days=(first, last))
            source = await _source(db, parts, uid, scope, (number, all_versions))
        await _write(exports.written(source, kind, marked=bom), output)

    frame.with_parts(act, workspace=workspace)


async def _source(
    db: "AsyncSession", parts: "Parts", uid: UUID, scope: "TallyScope", version: tuple[int | None, bool]
) -> "ExportSource":
    """`version`: which, and whether all. Raises NotFound."""
    from dataclasses import replace
    from datetime import UTC, datetime

    from app.dates import PageZone
    from app.db.session import PLATFORM, workspace_of
    from app.host import zone
    from app.surveys.pages import response_list
    from app.surveys.pages.results import response_table
    from app.surveys.results import queries, table
    from app.web import lists
    from app.web.exports import ExportSource

    number, every = version
    survey = await queries.survey(db, uid, number)
    wanted = None if every else number or survey.version
    questions = await table.asked_of_people(db, uid, wanted)
    workspace = workspace_of(db)
    spec = response_table.listed(
        response_list.SPEC, questions, parts.keys, workspace, on_platform=workspace == PLATFORM
    )
    which = replace(scope, survey_id=survey.id, version=wanted).responses()
    rows = table.ROWS.where(which).order_by(*lists.ordering(spec, spec.sort))
    where = PageZone.at(await zone.of(db), datetime.now(UTC))
    return ExportSource(parts.long_reads, workspace, spec, rows, spec.columns, where)


async def _write(pieces: AsyncGenerator[bytes], output: Path | None) -> None:
    """Opens the file only when there is something to write, and leaves no half-written file."""
    async with aclosing(pieces):
        first = await anext(pieces)
        if output is None:
            click.echo(first.decode(), nl=False)
            async for piece in pieces:
                click.echo(piece.decode(), nl=False)
            return
        with _file(output) as file:
            file.write(first)
            async for piece in pieces:
                file.write(piece)


@contextmanager
def _file(output: Path) -> Iterator[IO[bytes]]:
    """The file is removed when writing to it fails. A file that can't be opened is not touched, and a device or pipe is
    never removed."""
    with output.open("wb") as file:
        try:
            yield file
            file.flush()
        except BaseException:
            if output.is_file():
                output.unlink()
            raise


COMMANDS = (surveys_responses,)
