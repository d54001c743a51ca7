"""People and bindings as the integration API shows them: what a row has,
and how it is made of a row of bindings/queries.py."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from app.api.envelope import Code, Day, Id, Instant, Line, Prose
from app.clock.codes import BindingState
from app.texts import day, instant

if TYPE_CHECKING:
    States = str
else:
    States = Literal[tuple(one.value for one in BindingState)]
Methods = Literal["manual", "kiosk", "id_number", "name"]
PhotoUrl = Annotated[str, msgspec.Meta(max_length=2000, description="Where the picture is; opens with the same token.")]


class Named(msgspec.Struct):
    code: Code
    name: Line | None


class Enrolled(msgspec.Struct):
    fingerprint: bool
    face: bool
    palm: bool
    card: bool
    password: bool


class BindingSummary(msgspec.Struct):
    state: States
    method: Methods | None
    host_employee_id: Id | None
    host_employee_name: Line | None
    decided_by: Line | None
    decided_at: Instant | None


class EmployeeRow(msgspec.Struct):
    id: Id
    emp_code: Code
    first_name: Line | None
    last_name: Line | None
    full_name: Line
    department: Named | None
    position: Named | None
    areas: Annotated[list[Named], msgspec.Meta(max_length=1000)]
    email: Line | None
    hired_on: Day | None
    active: bool
    enrolled: Enrolled
    absent_since: Instant | None
    remarks: Prose | None
    binding: BindingSummary
    updated_at: Instant
    photo_url: PhotoUrl | msgspec.UnsetType | None = msgspec.UNSET


class Candidate(msgspec.Struct):
    host_employee_id: Id
    name: Line
    score: Annotated[float, msgspec.Meta(ge=0, le=100)]


class BindingRow(msgspec.Struct):
    id: Id
    emp_code: Code
    employee_name: Line
    state: States
    method: Methods | None
    host_employee_id: Id | None
    host_employee_name: Line | None
    candidates: Annotated[list[Candidate], msgspec.Meta(max_length=50)]
    decided_by: Line | None
    decided_at: Instant | None
    updated_at: Instant


def employee_row(row: Any, areas: dict[str, str], photos: str | None) -> EmployeeRow:
    """`areas` maps codes to names. `photos` is the address under which pictures are,
    None while they are switched off."""
    shown = EmployeeRow(
        id=row.id,
        emp_code=row.emp_code,
        first_name=row.first_name,
        last_name=row.last_name,
        full_name=row.full_name,
        department=_named(row.department_code, row.department_name),
        position=_named(row.position_code, row.position_name),
        areas=[Named(code, areas.get(code)) for code in row.area_codes],
        email=row.email,
        hired_on=day(row.hired_on),
        active=row.active,
        enrolled=Enrolled(row.has_fingerprint, row.has_face, row.has_palm, row.has_card, row.has_password),
        absent_since=instant(row.absent_since),
        remarks=row.remarks,
        binding=BindingSummary(
            row.state, row.method, row.host_employee_id, row.host_employee_name, row.decided_by, instant(row.decided_at)
        ),
        updated_at=instant(row.changed_at) or "",
    )
    if photos is not None:
        shown.photo_url = f"{photos}/clock_employees/{row.id}/photo" if row.photo_ref else None
    return shown


def _named(code: str | None, name: str | None) -> Named | None:
    return Named(code, name) if code else None


def binding_row(row: Any) -> BindingRow:
    return BindingRow(
        id=row.id,
        emp_code=row.emp_code,
        employee_name=row.full_name,
        state=row.state,
        method=row.method,
        host_employee_id=row.host_employee_id,
        host_employee_name=row.host_employee_name,
        candidates=[Candidate(one["host_employee_id"], one["name"], one["score"]) for one in row.candidates],
        decided_by=row.decided_by,
        decided_at=instant(row.decided_at),
        updated_at=instant(row.changed_at) or "",
    )
