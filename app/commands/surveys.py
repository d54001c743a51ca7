"""`surveys:*`: definitions as files, and what the Surveys page does with them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from app.commands import frame

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.surveys.authoring.definition import Definition
    from app.surveys.authoring.stored import Stored

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("surveys:create")
@click.argument("file", type=FILE, metavar="FILE.json")
@frame.workspace_option
@frame.json_option
def surveys_create(*, file: Path, workspace: str, as_json: bool) -> None:
    """Make a draft from a file and print its uid."""
    from app.accounts.audit import COMMAND_LINE
    from app.surveys.authoring import actions as authoring

    definition = _read(file)

    async def create(db: "AsyncSession") -> "Stored":
        uid = await authoring.create(db, COMMAND_LINE, definition, await authoring.ceiling_of(db))
        return await authoring.load(db, uid)

    stored = frame.in_transaction(create, workspace)
    frame.answer(_summary(stored), str(stored.uid), as_json=as_json)


@click.command("surveys:update")
@click.argument("uid", type=click.UUID)
@click.argument("file", type=FILE, metavar="FILE.json")
@click.option("--new-version", is_flag=True, help="Ask everyone again.")
@frame.workspace_option
@frame.json_option
def surveys_update(*, uid: UUID, file: Path, new_version: bool, workspace: str, as_json: bool) -> None:
    """Save a file over a survey; questions keep the ids that are found in `question`."""
    from app.accounts.audit import COMMAND_LINE
    from app.surveys.authoring import actions as authoring

    definition = _read(file)

    async def update(db: "AsyncSession") -> authoring.Saved:
        ceiling = await authoring.ceiling_of(db)
        return await authoring.save(
            db, COMMAND_LINE, uid, definition, revision=None, new_version=new_version, ceiling=ceiling
        )

    saved = frame.in_transaction(update, workspace)
    changed = bool(saved.differences) or new_version
    names = ", ".join(one.name for one in saved.differences)
    sentence = (
        f"Saved version {saved.stored.version}: {names or 'asked again as it was'}." if changed else "Nothing changed."
    )
    frame.answer({**_summary(saved.stored), "changed": changed}, sentence, as_json=as_json)


@click.command("surveys:export")
@click.argument("uid", type=click.UUID)
@frame.workspace_option
@frame.json_option
def surveys_export(*, uid: UUID, workspace: str, as_json: bool) -> None:
    """Write a survey to standard output, as a file that surveys:create and surveys:update read."""
    from app.surveys.authoring import actions as authoring
    from app.surveys.authoring import files

    stored = frame.in_transaction(lambda db: authoring.load(db, uid), workspace)
    # The file is always JSON, with or without --json.
    frame.answer(files.export(stored, datetime.now(UTC)), as_json=True)


@click.command("surveys:publish")
@click.argument("uid", type=click.UUID)
@frame.workspace_option
@frame.json_option
def surveys_publish(*, uid: UUID, workspace: str, as_json: bool) -> None:
    """Publish a survey. An archived one keeps its answers."""
    from app.accounts.audit import COMMAND_LINE
    from app.surveys.authoring import actions as authoring

    async def publish(db: "AsyncSession") -> "tuple[bool, Stored]":
        ceiling = await authoring.ceiling_of(db)
        changed = await authoring.publish(db, COMMAND_LINE, uid, datetime.now(UTC), ceiling)
        return changed, await authoring.load(db, uid)

    _tell(*frame.in_transaction(publish, workspace), as_json=as_json)


@click.command("surveys:archive")
@click.argument("uid", type=click.UUID)
@frame.workspace_option
@frame.json_option
def surveys_archive(*, uid: UUID, workspace: str, as_json: bool) -> None:
    """Stop asking; answers stay."""
    from app.accounts.audit import COMMAND_LINE
    from app.surveys.authoring import actions as authoring

    async def archive(db: "AsyncSession") -> "tuple[bool, Stored]":
        changed = await authoring.archive(db, COMMAND_LINE, uid)
        return changed, await authoring.load(db, uid)

    _tell(*frame.in_transaction(archive, workspace), as_json=as_json)


def _read(file: Path) -> "Definition":
    """Also says on stderr which markup will not be kept."""
    from app.surveys.authoring import content, files

    definition = files.read(frame.read(file))
    for text, where in ((definition.message, "message"), (definition.closing_html, "closing words")):
        readable = not content.too_much_to_read(text)
        if readable and (stripped := content.sanitise(text).stripped):
            click.echo(f"Note: not kept in the {where}: {', '.join(stripped)}", err=True)
    return definition


def _tell(changed: bool, stored: "Stored", *, as_json: bool) -> None:  # noqa: FBT001 - what the act returned
    title, status = stored.definition.title, stored.status
    sentence = f"“{title}”, version {stored.version}, is {status}." if changed else f"“{title}” was {status} already."
    frame.answer({**_summary(stored), "changed": changed}, sentence, as_json=as_json)


def _summary(stored: "Stored") -> dict[str, Any]:
    return {
        "survey": str(stored.uid),
        "title": stored.definition.title,
        "status": stored.status,
        "version": stored.version,
        "content_hash": stored.content_hash,
    }


COMMANDS = (surveys_create, surveys_update, surveys_export, surveys_publish, surveys_archive)
