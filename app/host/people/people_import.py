"""Employees from a CSV file: all rows or none, with every bad line named.

A line updates the employee who has that ID number *and* name, else it adds one. A column that the file leaves out
changes nothing; an empty cell clears its field, except that an empty `active` and an empty `kiosk_code` change nothing.
"""

import csv
import io
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor, AuditedChange
from app.accounts.models import User
from app.db.session import workspace_of
from app.errors import Conflict, FieldError, Invalid
from app.host import events
from app.host.models import Employee, KioskEnrolment
from app.host.people import kiosk
from app.host.people.people import EmployeeDetails, add_many, cleaned, hold_numbers
from app.texts import id_number_key, unguarded

COLUMNS = ("id_number", "name", "email", "department", "position", "active", "kiosk_code", "user_email")
NEEDED = ("id_number", "name")
MOST_LINES = 50_000
_YES, _NO = {"true", "yes", "y", "1", "active"}, {"false", "no", "n", "0", "inactive"}
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PeopleImported:
    """What an import did; each id once."""

    added: tuple[int, ...]
    updated: tuple[int, ...]
    unchanged: int
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileLine:
    """One readable line: its number in the file and the cells of the columns that the file has."""

    number: int
    cells: Mapping[str, str]

    @property
    def key(self) -> Key:
        return person_key(self.cells["id_number"], self.cells["name"])


@dataclass(slots=True)
class _Plan:
    """What the lines will change, before anything is written."""

    problems: list[FieldError] = field(default_factory=list)
    added: list[EmployeeDetails] = field(default_factory=list)
    edited: list[tuple[int, EmployeeDetails, EmployeeDetails]] = field(default_factory=list)
    unchanged: int = 0
    codes: dict[str, int | Key] = field(default_factory=dict)

    def refuse(self, line: FileLine, message: str) -> None:
        self.problems.append(FieldError(f"line {line.number}", message))


async def import_csv(db: AsyncSession, actor: Actor, data: bytes) -> PeopleImported:
    """Writes the whole file or nothing. Raises Invalid whose details name each bad line (`line 7`) and what to do."""
    lines, problems = read(data)
    # One at a time, or two imports of one file would both add its new people.
    await hold_numbers(db)
    plan = await _plan(db, lines)
    problems = sorted([*problems, *plan.problems], key=lambda one: int(one.field.removeprefix("line ")))
    if problems:
        count = len({one.field for one in problems})
        raise Invalid(f"{count} bad {'line' if count == 1 else 'lines'}; nothing was imported.", details=problems)
    return await _write(db, actor, plan)


def read(data: bytes) -> tuple[list[FileLine], list[FieldError]]:
    """The lines of a file, and what is wrong with the unreadable ones. Raises Invalid for a file that is not a list of
    employees."""
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid("The file is not UTF-8 text. Save it as “CSV UTF-8”.") from None
    head = content.split("\n", 1)[0]
    delimiter = ";" if ";" in head and "," not in head else ","
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    lines: list[FileLine] = []
    problems: list[FieldError] = []
    try:
        header = _header(next(reader, []))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                _take(reader.line_num, header, cells, lines, problems)
    except csv.Error as broken:
        raise Invalid(f"Line {reader.line_num} can't be read: {broken}.") from None
    if len(lines) > MOST_LINES:
        raise Invalid(f"At most {MOST_LINES} lines at once; this file has {len(lines)}.")
    if not lines and not problems:
        raise Invalid("The file has no line below its header.")
    return lines, problems


def person_key(id_number: str, name: str) -> Key:
    """How a line finds its employee: by the ID number as it is compared everywhere, and by the name without regard to
    case and spaces."""
    return id_number_key(id_number), " ".join(unicodedata.normalize("NFC", name).split()).casefold()


def _header(cells: Sequence[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    unknown = [name for name in names if name not in COLUMNS]
    missing = [name for name in NEEDED if name not in names]
    if missing or unknown or len(set(names)) != len(names):
        what = (
            f"missing: {', '.join(missing)}" if missing else f"unknown: {', '.join(unknown)}" if unknown else "doubled"
        )
        raise Invalid(f"The first line must name the columns, of {', '.join(COLUMNS)} ({what}).")
    return names


def _take(
    number: int, header: Sequence[str], cells: Sequence[str], lines: list[FileLine], problems: list[FieldError]
) -> None:
    if len(cells) != len(header):
        problems.append(FieldError(f"line {number}", f"{len(cells)} cells, but the header has {len(header)}."))
        return
    plain = [unguarded(cell) for cell in cells]
    lines.append(FileLine(number, {name: cell.strip() for name, cell in zip(header, plain, strict=True)}))


async def _plan(db: AsyncSession, lines: Sequence[FileLine]) -> _Plan:
    plan = _Plan()
    people = await _people(db)
    holders = dict((await db.execute(select(KioskEnrolment.code, KioskEnrolment.employee_id))).all())
    users = await _users(db)
    seen: dict[Key, int] = {}
    for line in lines:
        if line.key in seen:
            plan.refuse(line, f"The same person as on line {seen[line.key]}.")
            continue
        seen[line.key] = line.number
        matches = people.get(line.key, [])
        if len(matches) > 1:
            plan.refuse(line, "Two people have this ID number and name. Change them on the page People.")
            continue
        _judge(plan, line, matches[0] if matches else None, holders, users)
    return plan


async def _people(db: AsyncSession) -> dict[Key, list[Employee]]:
    people: dict[Key, list[Employee]] = defaultdict(list)
    statement = (
        select(Employee).where(Employee.deleted_at.is_(None)).order_by(Employee.id).with_for_update(key_share=True)
    )
    for person in await db.scalars(statement):
        people[person_key(person.id_number, person.name)].append(person)
    return people


async def _users(db: AsyncSession) -> dict[str, int]:
    rows = await db.execute(select(User.email, User.id).where(User.workspace == workspace_of(db)))
    return dict(rows.all())


def _judge(
    plan: _Plan, line: FileLine, person: Employee | None, holders: Mapping[str, int], users: Mapping[str, int]
) -> None:
    """Adds the changes of one line to the plan."""
    before = len(plan.problems)
    details = _details(plan, line, person, users)
    code = _code(plan, line, person, holders)
    if details is None or len(plan.problems) > before:
        return
    if person is None:
        plan.added.append(details)
    elif details != EmployeeDetails.of(person):
        plan.edited.append((person.id, EmployeeDetails.of(person), details))
    elif code is None:
        plan.unchanged += 1
    if code is not None:
        plan.codes[code] = person.id if person is not None else line.key


def _details(plan: _Plan, line: FileLine, person: Employee | None, users: Mapping[str, int]) -> EmployeeDetails | None:
    details = (
        EmployeeDetails.of(person)
        if person is not None
        else EmployeeDetails(line.cells["id_number"], line.cells["name"])
    )
    texts = {name: line.cells[name] for name in COLUMNS[:5] if name in line.cells}
    word = line.cells.get("active", "").lower()
    if word and word not in _YES | _NO:
        plan.refuse(line, f"active: Write true or false, not “{word[:50]}”.")
    email = line.cells.get("user_email", "").lower()
    if email and email not in users:
        plan.refuse(line, f"user_email: There is no account {email[:100]} in this workspace.")
    changes: dict[str, Any] = dict(texts)
    if word:
        changes["active"] = word in _YES
    if "user_email" in line.cells:
        changes["user_id"] = users.get(email)
    try:
        return cleaned(replace(details, **changes))
    except Invalid as wrong:
        for one in wrong.details:
            plan.refuse(line, f"{one.field}: {one.message}")
        return None


def _code(plan: _Plan, line: FileLine, person: Employee | None, holders: Mapping[str, int]) -> str | None:
    """The kiosk code that this line enrols; None when it names none, or the person has it already."""
    if not line.cells.get("kiosk_code"):
        return None
    try:
        code = kiosk.cleaned(line.cells["kiosk_code"])
    except Invalid as wrong:
        plan.refuse(line, f"kiosk_code: {wrong.message}")
        return None
    if code in plan.codes:
        plan.refuse(line, f"kiosk_code: Another line gives {code} to somebody else.")
        return None
    holder = holders.get(code)
    if holder is None:
        return code
    if person is None or holder != person.id:
        plan.refuse(line, f"kiosk_code: {code} belongs to another employee. Remove it there first, on the page Kiosk.")
    return None


async def _write(db: AsyncSession, actor: Actor, plan: _Plan) -> PeopleImported:
    added = await add_many(db, actor, plan.added, "employee.import")
    await _edit(db, actor, plan)
    by_key = {person_key(one.id_number, one.name): new_id for one, new_id in zip(plan.added, added, strict=True)}
    codes = {code: owner if isinstance(owner, int) else by_key[owner] for code, owner in plan.codes.items()}
    await _enrol(db, actor, codes)
    updated = {employee_id for employee_id, _, _ in plan.edited} | (set(codes.values()) - set(added))
    touched = (*added, *(employee_id for employee_id, _, _ in plan.edited))
    if touched:
        await events.tell(db, events.EmployeesChanged(touched))
    if codes:
        await events.tell(db, events.KioskChanged(tuple(codes)))
    return PeopleImported(tuple(added), tuple(sorted(updated)), plan.unchanged, tuple(codes))


async def _edit(db: AsyncSession, actor: Actor, plan: _Plan) -> None:
    for employee_id, _, new in plan.edited:
        values = {**asdict(new), "id_number_key": id_number_key(new.id_number), "updated_at": func.now()}
        await db.execute(update(Employee).where(Employee.id == employee_id).values(values))
    changes = [
        AuditedChange(employee_id, *audit.changed_fields(asdict(old), asdict(new)))
        for employee_id, old, new in plan.edited
    ]
    await audit.record_many(db, actor, "employee.import", "employee", changes)


async def _enrol(db: AsyncSession, actor: Actor, codes: Mapping[str, int]) -> None:
    if not codes:
        return
    rows = [{"code": code, "employee_id": owner} for code, owner in codes.items()]
    statement = upsert(KioskEnrolment).on_conflict_do_nothing().returning(KioskEnrolment.code)
    if len((await db.scalars(statement, rows)).all()) != len(rows):
        raise Conflict("One of these kiosk codes was enrolled just now. Nothing was imported; import again.")
    changes = [AuditedChange(owner, None, {"code": code}) for code, owner in codes.items()]
    await audit.record_many(db, actor, "kiosk.enrol", "employee", changes)
