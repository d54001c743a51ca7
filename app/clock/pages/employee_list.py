"""The list of Employees & Bindings: its rows, columns, filters and bulk acts. The page is pages/employees.py."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, String, and_, case, column, func, or_, select, text, true
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings.actions import LABELS, OPEN_TO
from app.clock.bindings.queries import NUMBER_IS_TAKEN, WAITS, of_people
from app.clock.codes import BINDING_STATES, BindingState
from app.clock.models import Binding, ClockEmployee, Connection, Department, Position, Punch
from app.clock.punches import waiting_counts
from app.db.searching import contains
from app.host.models import Employee
from app.long_acts import progress as long_acts
from app.web.formats import number
from app.web.list_spec import BulkAction, Column, Empty, Filter, FilterValues, ListSpec, Query, where_any_of
from app.web.templating import with_query

STATES = {state.value: words.label for state, words in BINDING_STATES.items()}
METHODS = {"manual": "By hand", "kiosk": "Kiosk code", "id_number": "ID number", "name": "Name"}
ABSENT = {"no": "Left out", "only": "Only these", "all": "Included"}
# Key, name, icon and column of what can be enrolled on a terminal.
ENROLLED = (
    ("fingerprint", "Fingerprint", "fingerprint", ClockEmployee.has_fingerprint),
    ("face", "Face", "face-id", ClockEmployee.has_face),
    ("palm", "Palm", "hand-stop", ClockEmployee.has_palm),
    ("card", "Card", "credit-card", ClockEmployee.has_card),
    ("password", "Password", "key", ClockEmployee.has_password),
)
# From the kept counts, so that punches that wait for years cost nothing.
_WAITING = (
    text(waiting_counts.WAITING).columns(column("emp_code", String), column("punches", BigInteger)).subquery("waiting")
)
WAITING: ColumnElement[int] = case(
    (Binding.state == BindingState.IGNORED.value, 0), else_=func.coalesce(_WAITING.c.punches, 0)
)
LAST_PUNCH = select(func.max(Punch.punched_at_utc)).where(Punch.emp_code == ClockEmployee.emp_code).scalar_subquery()
_COLUMNS: tuple[Any, ...] = (
    ClockEmployee.id,
    ClockEmployee.emp_code,
    ClockEmployee.full_name,
    ClockEmployee.active,
    ClockEmployee.has_fingerprint,
    ClockEmployee.has_face,
    ClockEmployee.has_palm,
    ClockEmployee.has_card,
    ClockEmployee.has_password,
    ClockEmployee.remarks,
    ClockEmployee.absent_since,
    Department.name.label("department"),
    Position.name.label("position"),
    Binding.state,
    Binding.method,
    Binding.cleared,
    Binding.host_employee_id,
    Binding.candidates,
    Binding.decided_by,
    Binding.decided_at,
    Employee.name.label("host_name"),
    Employee.id_number.label("host_number"),
    and_(Employee.active, Employee.deleted_at.is_(None)).label("host_works"),
    WAITING.label("waiting"),
    LAST_PUNCH.label("last_punch"),
)
BASE = of_people(*_COLUMNS).outerjoin(_WAITING, _WAITING.c.emp_code == ClockEmployee.emp_code)
# A person who left the server's list stays in ours as long as a link gives their old punches an owner.
LISTED = or_(ClockEmployee.absent_since.is_(None), Binding.host_employee_id.is_not(None))
_LEFT_OUT = select(func.count()).select_from(ClockEmployee).join(Binding).where(~LISTED).scalar_subquery()
_LEFT_OUT_WAITING = (
    select(func.count())
    .select_from(ClockEmployee)
    .join(Binding)
    .where(
        ~LISTED,
        Binding.state != BindingState.IGNORED.value,
        select(Punch.id).where(Punch.emp_code == ClockEmployee.emp_code, WAITS).exists(),
    )
    .scalar_subquery()
)
_AROUND = select(
    select(func.jsonb_object_agg(Department.code, Department.name)).scalar_subquery().label("departments"),
    select(Connection.timezone).scalar_subquery().label("zone"),
    _LEFT_OUT.label("left_out"),
    _LEFT_OUT_WAITING.label("left_out_waiting"),
    long_acts.newest("take_back", "move").label("acting"),
)


def _act(word: str, icon: str, *, danger: bool = False) -> BulkAction:
    return BulkAction(word, LABELS[word], icon, danger, fits=where_any_of("state", OPEN_TO[word]))


def _may_add(values: FilterValues) -> bool:
    """False also for codes whose ID number is taken: all of them would stay."""
    return _ADD.fits(values) and not values.get("number_taken")


_ADD = _act("add", "user-plus")
ADD = replace(_ADD, fits=_may_add)
BULK = (
    _act("accept", "check"),
    _act("reject", "x"),
    _act("match_again", "wand"),
    _act("clear", "unlink", danger=True),
    _act("ignore", "eye-off", danger=True),
    _act("un_ignore", "eye"),
)
NOT_CONNECTED = Empty(
    "plug-connected-x",
    "No time clock is connected yet",
    "People appear here once a server is connected and the first sync has run.",
    "/clock_settings",
    "Connect a server",
)
NOTHING_YET = Empty(
    "users",
    "No employees mirrored yet",
    "A sync reads the people from the time clock. Start one in the Sync Center, which also shows its progress.",
    "/clock_sync",
    "Open the Sync Center",
)


def _enrolled_words(row: Any) -> list[str]:
    return [label for key, label, _, _ in ENROLLED if getattr(row, f"has_{key}")]


def _enrolled(word: str) -> ColumnElement[bool]:
    flags: dict[str, ColumnElement[bool]] = {key: column.is_(True) for key, _, _, column in ENROLLED}
    return ~or_(*flags.values()) if word == "none" else flags[word]


def _absent(word: str) -> ColumnElement[bool]:
    conditions = {"no": ClockEmployee.absent_since.is_(None), "only": ClockEmployee.absent_since.is_not(None)}
    return conditions.get(word, true())


SPEC = ListSpec(
    name="clock-employees",
    label="mirrored people",
    url="/clock_employees",
    key=ClockEmployee.id,
    sort="-waiting",
    columns=(
        Column("code", "Code", lambda row: row.emp_code, ClockEmployee.emp_code),
        Column("name", "Name", lambda row: row.full_name, ClockEmployee.full_name, titles=True),
        Column("department", "Department", lambda row: row.department, Department.name),
        Column("position", "Position", lambda row: row.position, Position.name, shown=False),
        Column("enrolled", "Enrolled", _enrolled_words, hint="What is enrolled on the terminals"),
        Column("state", "Binding", lambda row: row.state, Binding.state),
        Column("method", "Found by", lambda row: METHODS.get(row.method or ""), Binding.method, shown=False),
        Column("host", "Host employee", lambda row: row.host_name, Employee.name),
        Column("host_number", "ID number", lambda row: row.host_number, Employee.id_number_key, shown=False),
        Column(
            "waiting", "Waiting", lambda row: row.waiting, WAITING, numeric=True, hint="Punches that wait for this code"
        ),
        Column("last_punch", "Last punch", lambda row: row.last_punch, LAST_PUNCH),
        Column("decided_by", "Decided by", lambda row: row.decided_by, Binding.decided_by, shown=False),
        Column("decided_at", "Decided", lambda row: row.decided_at, Binding.decided_at, shown=False),
        Column("absent", "Absent since", lambda row: row.absent_since, ClockEmployee.absent_since, shown=False),
        Column("remarks", "Remarks", lambda row: row.remarks, shown=False),
    ),
    filters=(
        Filter(
            "q",
            "Search",
            contains(ClockEmployee.full_name, ClockEmployee.emp_code, Employee.name, Employee.id_number),
            placeholder="Name, code, host employee",
        ),
        Filter("state", "Binding", Binding.state.in_, kind="multi", options=STATES),
        Filter("department", "Department", lambda code: ClockEmployee.department_code == code, kind="select"),
        Filter("waiting", "Punches wait", lambda _: WAITING > 0, kind="check"),
        Filter(
            "method", "Found by", lambda word: Binding.method == word, kind="select", options=METHODS, advanced=True
        ),
        Filter(
            "enrolled",
            "Enrolled",
            _enrolled,
            kind="select",
            options={**{key: label for key, label, _, _ in ENROLLED}, "none": "Nothing"},
            advanced=True,
        ),
        Filter("number_taken", "ID number is taken", lambda _: NUMBER_IS_TAKEN, kind="check", advanced=True),
        Filter("code", "Code, exactly", lambda code: ClockEmployee.emp_code == code, advanced=True, verbatim=True),
        Filter("absent", "Absent people", _absent, kind="select", options=ABSENT, advanced=True),
    ),
    empty=NOTHING_YET,
    bulk_url="/clock_employees/bulk",
    bulk=BULK,
)


def base(query: Query) -> Select[Any]:
    """Absent people are left out unless the address asks for them,
    for states (a state's link shows all it counts) or a code."""
    asks = any(str(query.get(name) or "").strip() for name in ("absent", "state", "code"))
    return BASE if asks else BASE.where(LISTED)


def waiting_url(code: str) -> str:
    """The punches of a code that wait for a person."""
    return with_query("/clock_transactions", {"emp_code": code, "outcome": ["not_bound", "unjudged"], "settled": "no"})


def is_off_on_server(row: Any) -> bool:
    """True when the server switched off a person whose binding does not say so."""
    return not row.active and row.state in (BindingState.BOUND, BindingState.IGNORED, BindingState.MISSING_REMOTE)


class EmployeeListFrame:
    """What surrounds the list, read at once: the spec with its choices, the zone of its times, who is left out, and the
    act on records that is under way."""

    def __init__(self, spec: ListSpec, row: Any) -> None:
        departments: Mapping[str, str] = row.departments or {}
        by_name = dict(sorted(departments.items(), key=lambda one: (one[1].casefold(), one[0])))
        spec = spec.offering(department={code: name or code for code, name in by_name.items()})
        self.spec = spec if row.zone else replace(spec, empty=NOT_CONNECTED)
        self.zone: str = row.zone or "UTC"
        self.left_out: int = row.left_out
        self.left_out_waiting: int = row.left_out_waiting
        self.acting: int | None = row.acting

    def left_out_words(self) -> str:
        """How many people the list leaves out, and how many of them have punches that wait."""
        people = "1 person is" if self.left_out == 1 else f"{number(self.left_out)} people are"
        waiting = f" Punches of {number(self.left_out_waiting)} of them wait." if self.left_out_waiting else ""
        return f"{people} no longer on the server. Only a filter shows them.{waiting}"


async def around(db: AsyncSession, *, may_act: bool, may_add: bool) -> EmployeeListFrame:
    spec = replace(SPEC, bulk=(*BULK[:1], ADD, *BULK[1:]) if may_add else BULK) if may_act else replace(SPEC, bulk=())
    return EmployeeListFrame(spec, (await db.execute(_AROUND)).one())
