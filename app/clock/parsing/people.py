"""Rows of people, terminals, organisation and schedules. Few enough that clarity comes before speed. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, TypeVar

from app.clock.parsing.rows import Enrolment, ParsedDevice, ParsedEmployee, ParsedShift, Ref, Unit
from app.clock.parsing.times import LocalTimes, TimeError, read_date
from app.clock.parsing.values import (
    CODE_LENGTH,
    RowError,
    count,
    enrolled,
    flag,
    optional_text,
    present,
    reference,
    required_code,
    time_zone,
    whole_number,
)

Row = Mapping[str, Any]
T = TypeVar("T")

UNIT_WORDS = {"departments": "dept", "positions": "position", "areas": "area", "locations": "location"}
_PHOTO_FIELDS = ("photo", "photo_url", "avatar")
_LONG_ID = re.compile(r"[0-9a-fA-F]{32}")


def employee_from(row: Row, times: LocalTimes) -> ParsedEmployee:
    return ParsedEmployee(
        remote_id=required_code(row.get("id"), "id"),
        emp_code=required_code(row.get("emp_code"), "emp_code"),
        first_name=optional_text(row.get("first_name"), "first_name"),
        last_name=optional_text(row.get("last_name"), "last_name"),
        department=_ref(row.get("department"), "dept", "department"),
        position=_ref(row.get("position"), "position", "position"),
        areas=_refs(row.get("area"), "area"),
        email=optional_text(row.get("email"), "email", 254),
        hired_on=_day(row.get("hire_date"), "hire_date"),
        active=_active(row),
        enrolled=_enrolled(row),
        photo_ref=next((found for name in _PHOTO_FIELDS if (found := reference(row.get(name)))), None),
    )


def device_from(row: Row, times: LocalTimes, states: Mapping[str, str]) -> ParsedDevice:
    """`states` maps the server's words for a terminal's state, in lower case, to online or offline."""
    return ParsedDevice(
        remote_id=required_code(row.get("id"), "id"),
        sn=required_code(row.get("sn"), "sn"),
        alias=optional_text(row.get("alias"), "alias"),
        terminal_name=optional_text(row.get("terminal_name"), "terminal_name"),
        ip_address=optional_text(row.get("ip_address"), "ip_address", CODE_LENGTH),
        firmware=optional_text(row.get("fw_ver"), "fw_ver"),
        state=states.get(str(row.get("state")).strip().lower(), "unknown"),
        area=_ref(row.get("area"), "area", "area"),
        last_activity_at=_instant(row.get("last_activity"), "last_activity", times),
        user_count=count(row.get("user_count"), "user_count"),
        fingerprint_count=count(row.get("fp_count"), "fp_count"),
        face_count=count(row.get("face_count"), "face_count"),
        palm_count=count(row.get("palm_count"), "palm_count"),
        transaction_count=count(row.get("transaction_count"), "transaction_count"),
        is_attendance=flag(row.get("is_attendance"), "is_attendance"),
        terminal_tz=time_zone(row.get("terminal_tz")),
    )


def unit_from(row: Row, word: str) -> Unit:
    """`word` is what the field names of this resource begin with: dept, position, area or location."""
    code = required_code(row.get(f"{word}_code"), f"{word}_code")
    return Unit(
        remote_id=required_code(row.get("id"), "id"),
        code=code,
        name=optional_text(row.get(f"{word}_name"), f"{word}_name") or code,
        parent=_ref(row.get(f"parent_{word}"), word, f"parent_{word}"),
    )


def shift_from(row: Row, times: LocalTimes) -> ParsedShift:
    day = _day(row.get("att_date"), "att_date")
    if day is None:
        raise RowError("att_date is missing")
    return ParsedShift(
        day=day,
        name=optional_text(row.get("timetable_alias"), "timetable_alias"),
        starts_at=_local(row.get("check_in"), "check_in", times),
        ends_at=_local(row.get("check_out"), "check_out", times),
        break_minutes=count(row.get("break_minutes"), "break_minutes"),
        day_off=flag(row.get("day_off"), "day_off") or False,
    )


def _active(row: Row) -> bool:
    """Attendance switched off (8.x, then 9.x) or an explicit flag.
    `app_status` is the mobile app's and means nothing."""
    nested = row.get("attemployee")
    switches = [flag(row.get("enable_att"), "enable_att")]
    if isinstance(nested, Mapping):
        switches.append(flag(nested.get("enable_attendance"), "enable_attendance"))
    disabled = (flag(row.get(name), name) for name in ("disabled", "is_disabled"))
    return False not in switches and True not in disabled


def _enrolled(row: Row) -> Enrolment:
    return Enrolment(
        fingerprint=enrolled(row.get("fingerprint")),
        face=enrolled(row.get("face")) or enrolled(row.get("vl_face")),
        palm=enrolled(row.get("palm")) or enrolled(row.get("vl_palm")),
        card=present(row.get("card_no")),
        password=present(row.get("device_password")),
    )


def _refs(value: Any, word: str) -> tuple[Ref, ...]:
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    return tuple(ref for item in values if (ref := _ref(item, word, word)) is not None)


def _ref(value: Any, word: str, field: str) -> Ref | None:
    """A nested row, or only its id (a number, or the 32 digits of the cloud's ids).
    A bare name tells no row from another."""
    if value is None or value == "":
        return None
    if isinstance(value, Mapping):
        return Ref(
            remote_id=optional_text(value.get("id"), f"{field}.id", CODE_LENGTH),
            code=optional_text(value.get(f"{word}_code"), f"{field}.{word}_code", CODE_LENGTH),
        )
    if isinstance(value, str):
        return Ref(value, None) if _LONG_ID.fullmatch(value) else None
    number = whole_number(value, field)
    return Ref(str(number), None)


def _day(value: Any, field: str) -> date | None:
    return _timed(value, field, read_date)


def _instant(value: Any, field: str, times: LocalTimes) -> datetime | None:
    return _timed(value, field, lambda text: times.read(text)[1])


def _local(value: Any, field: str, times: LocalTimes) -> datetime | None:
    return _timed(value, field, lambda text: times.read(text)[0])


def _timed(value: Any, field: str, read: Callable[[str], T]) -> T | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        raise RowError(f"{field} is no text")
    try:
        return read(value)
    except TimeError as error:
        raise RowError(f"{field}: {error}") from None
