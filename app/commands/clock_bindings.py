"""`clock:bind`, `clock:clear`, `clock:ignore`: who a clock code belongs to."""

from typing import TYPE_CHECKING, Any, cast

import click

from app.commands import frame
from app.commands.clock_punches import told

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.long_acts.progress import Progress


@click.command("clock:bind")
@click.argument("emp_code")
@click.argument("id_number")
@click.option(
    "--take-back",
    "undo",
    flag_value="take_back",
    help="Delete the records that the code's punches made for another employee.",
)
@click.option("--move", "undo", flag_value="move", help="Give those records to this employee.")
@frame.workspace_option
@frame.json_option
def clock_bind(*, emp_code: str, id_number: str, undo: str | None, workspace: str, as_json: bool) -> None:
    """Link a clock code to the employee with an ID number; refused where two people share it."""
    from app.clock.bindings import actions as bindings
    from app.clock.bindings import rows as binding_rows
    from app.host.people import people

    async def bind(db: "AsyncSession") -> "tuple[Progress | None, list[str]]":
        employee_id = await people.one_with_id_number(db, id_number)
        progress = await _bind(db, await bindings.id_of_code(db, emp_code), employee_id, undo)
        codes = (await binding_rows.codes_of(db, [employee_id]))[employee_id]
        return progress, [code for code in codes if code != emp_code]

    progress, others = frame.in_transaction(bind, workspace)
    document = {"emp_code": emp_code, "id_number": id_number, "state": "bound", "other_codes": others}
    note = [f"{id_number} also has {', '.join(others)}; punches of all codes are judged together."] if others else []
    _answer_undone(progress, document, f"{emp_code} is bound to {id_number}.", *note, as_json=as_json)


async def _bind(db: "AsyncSession", clock_employee_id: int, employee_id: int, undo: str | None) -> "Progress | None":
    from app.accounts.audit import COMMAND_LINE
    from app.clock.bindings import actions as bindings
    from app.clock.bindings import undoing

    if undo is None:
        await bindings.bind(db, COMMAND_LINE, clock_employee_id, employee_id)
        return None
    return await undoing.bind(db, COMMAND_LINE, clock_employee_id, employee_id, cast("undoing.Undo", undo))


@click.command("clock:clear")
@click.argument("emp_code")
@click.option("--take-back", is_flag=True, help="Delete the records that the code's punches made, too.")
@frame.workspace_option
@frame.json_option
def clock_clear(*, emp_code: str, take_back: bool, workspace: str, as_json: bool) -> None:
    """End the link of a code; no automatic pass touches it until Match again."""
    if not take_back:
        _change_state("clear", emp_code, workspace, "unbound", as_json=as_json)
        return
    from app.accounts.audit import COMMAND_LINE
    from app.clock.bindings import actions as bindings
    from app.clock.bindings import undoing

    async def clear(db: "AsyncSession") -> "Progress":
        employee_id = await bindings.id_of_code(db, emp_code)
        await bindings.refuse_unless_open(db, "clear", employee_id)
        return (await undoing.clear(db, COMMAND_LINE, [employee_id]))[1]

    progress = frame.in_transaction(clear, workspace)
    document = {"emp_code": emp_code, "state": "unbound"}
    _answer_undone(progress, document, f"{emp_code} is unbound.", as_json=as_json)


def _answer_undone(progress: "Progress | None", document: dict[str, Any], *lines: str, as_json: bool) -> None:
    """The same answer, and what became of the records, if the person asked to undo them."""
    if progress is None:
        frame.answer(document, *lines, as_json=as_json)
        return
    records = {"records": progress.total if progress.counted else None, "done": progress.done, "left": progress.left}
    finished = {"undone": {**records, "finished": progress.finished_at is not None}}
    frame.answer({**document, **finished}, *lines, told(progress), as_json=as_json)


@click.command("clock:ignore")
@click.argument("emp_code")
@frame.workspace_option
@frame.json_option
def clock_ignore(*, emp_code: str, workspace: str, as_json: bool) -> None:
    """Leave a code out on purpose: test cards, shared badges."""
    _change_state("ignore", emp_code, workspace, "ignored", as_json=as_json)


def _change_state(act: str, emp_code: str, workspace: str, state: str, *, as_json: bool) -> None:
    """`act` is a verb of app.clock.bindings.actions that takes ids. It skips codes whose state does not allow it; the
    answer says so."""
    from app.accounts.audit import COMMAND_LINE
    from app.clock.bindings import actions as bindings

    async def change(db: "AsyncSession") -> None:
        employee_id = await bindings.id_of_code(db, emp_code)
        await bindings.refuse_unless_open(db, act, employee_id)
        await getattr(bindings, act)(db, COMMAND_LINE, [employee_id])

    frame.in_transaction(change, workspace)
    frame.answer({"emp_code": emp_code, "state": state}, f"{emp_code} is {state}.", as_json=as_json)


COMMANDS = (clock_bind, clock_clear, clock_ignore)
