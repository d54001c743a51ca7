"""`ledger:verify` and `person:erase`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from app.commands import frame

if TYPE_CHECKING:
    from app.parts import Parts
    from app.surveys.erasing import EvidenceOwner, Held
    from app.surveys.ledger.verifying import LedgerVerdict


@click.command("ledger:verify")
@frame.workspace_option
@frame.json_option
def ledger_verify(*, workspace: str, as_json: bool) -> None:
    """Check the chain of every response. Exits 1 naming the first row that is broken."""
    verdict = frame.with_parts(partial(_verify, workspace=workspace), workspace=workspace)
    document = {"workspace": workspace, "fits": verdict.fits, **asdict(verdict)}
    sentence = f"All {verdict.rows:,} rows of the ledger of {workspace} fit; its head is {verdict.head}."
    if verdict.fits and not verdict.rows:
        sentence = f"The ledger of {workspace} is empty."
    frame.answer(document, *([sentence] if verdict.fits else []), as_json=as_json)
    if not verdict.fits:
        frame.refuse(_accusation(verdict, workspace))


def _accusation(verdict: "LedgerVerdict", workspace: str) -> str:
    if verdict.number is None:
        return f"The ledger of {workspace} is broken: {verdict.problem}."
    fitting = f" The {verdict.rows:,} rows before it fit." if verdict.rows else ""
    return f"Row {verdict.number} of the ledger of {workspace} is broken: {verdict.problem}.{fitting}"


async def _verify(parts: "Parts", *, workspace: str) -> "LedgerVerdict":
    """A broken row of the platform opens a problem, until all rows fit again."""
    from app import wiring
    from app.surveys.problem_kinds import ledger

    wiring.connect()
    with _bar() as show:
        verdict = await ledger.verify(
            parts,
            workspace,
            report=show,
            broke_off=lambda: click.echo("The replica broke off. The primary is read.", err=True),
        )
    if workspace == frame.PLATFORM:
        async with parts.database.transaction(workspace) as db:
            await ledger.tell(db, verdict)
    return verdict


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """Progress on standard error, and only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("rows"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("rows", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@click.command("person:erase")
@click.argument("email")
@click.option("--yes", is_flag=True, help="Do not ask.")
@frame.workspace_option
@frame.json_option
def person_erase(*, email: str, yes: bool, workspace: str, as_json: bool) -> None:
    """Destroy the key of a person's evidence: IP, browser and free texts of their answers can no longer be read.

    The answers and the proof in the ledger stay, and so does the account.
    """
    person, held = frame.with_parts(partial(_held, workspace=workspace, email=email), workspace=workspace)
    if not held.anything:
        frame.answer(_document(person, held), f"There is nothing of {person.email} to erase.", as_json=as_json)
        return
    if not yes:
        for line in ("This goes:", *held.goes, "This stays:", *held.stays):
            click.echo(line, err=True)
        if not all(map(_agreed, (f"Erase {person.email}?", "This can't be undone. Destroy the key for good?"))):
            frame.refuse("Nothing was erased.")
    erased = frame.with_parts(partial(_erase, person=person), workspace=workspace)
    frame.answer(_document(person, erased), f"{person.email} is erased: {_told(erased)}.", as_json=as_json)


def _agreed(question: str) -> bool:
    """Ends the command when the question can't be answered: a script without standard input is refused."""
    try:
        return click.confirm(question, err=True)
    except click.Abort as stopped:
        if isinstance(stopped.__context__, EOFError):
            click.echo(err=True)
            frame.refuse("No confirmation was given, so nothing was erased. --yes erases without asking.")
        raise


async def _held(parts: "Parts", *, workspace: str, email: str) -> "tuple[EvidenceOwner, Held]":
    from app.accounts import accounts
    from app.surveys import erasing

    async with parts.database.transaction(workspace) as db:
        account = await accounts.find_by_email(db, email)
    person = erasing.EvidenceOwner(account.id, account.email, workspace)
    return person, await erasing.held(parts.database, person)


async def _erase(parts: "Parts", *, person: "EvidenceOwner") -> "Held":
    from app.accounts.audit import COMMAND_LINE
    from app.surveys import erasing

    return await erasing.erase(parts.database, COMMAND_LINE, person)


def _told(erased: "Held") -> str:
    return f"the evidence of {erased.evidence:,} of {erased.responses:,} responses can no longer be read"


def _document(person: "EvidenceOwner", held: "Held") -> dict[str, object]:
    return {
        "email": person.email,
        "keys": held.keys,
        "responses": held.responses,
        "evidence": held.evidence,
        "texts": held.texts,
        "comments": held.comments,
    }


COMMANDS = (ledger_verify, person_erase)
