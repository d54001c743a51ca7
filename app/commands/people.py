"""`employees:import`."""

from pathlib import Path

import click

from app.commands import frame


@click.command("employees:import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@frame.workspace_option
@frame.json_option
def employees_import(*, file: Path, workspace: str, as_json: bool) -> None:
    """Add and update employees from a CSV file: all rows or none.

    Columns: id_number, name, email, department, position, active, kiosk_code, user_email; the first two are needed.
    """
    from app.accounts.audit import COMMAND_LINE
    from app.errors import Invalid
    from app.host.people import people_import

    data = frame.read(file)
    try:
        done = frame.in_transaction(lambda db: people_import.import_csv(db, COMMAND_LINE, data), workspace)
    except Invalid as refused:
        for one in refused.details:
            click.echo(f"{one.field}: {one.message}", err=True)
        raise
    document = {
        "added": len(done.added),
        "updated": len(done.updated),
        "unchanged": done.unchanged,
        "kiosk_codes": len(done.codes),
    }
    sentence = f"{len(done.added)} added, {len(done.updated)} updated, {done.unchanged} unchanged."
    frame.answer(document, sentence, as_json=as_json)


COMMANDS = (employees_import,)
