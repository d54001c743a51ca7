"""Punch rows to punches, a page at a time. This is the hot path: a first sync reads millions. Pure."""

from typing import Any

import msgspec

from app.clock.parsing.rows import ParsedPunch
from app.clock.parsing.times import LocalTimes, TimeError
from app.clock.parsing.values import (
    CODE_LENGTH,
    NAME_LENGTH,
    RAW_TIME_LENGTH,
    RowError,
    checked_text,
    is_no,
    reference,
    required_code,
    temperature,
    whole_number,
)

_SHORT = 64  # when all texts of a row together are no longer, none of them is too long


class PunchWire(msgspec.Struct, gc=False):
    """What we keep of a punch row, with the types servers send;
    everything else is dropped on the way in, whatever it holds."""

    id: int | str
    emp_code: str | int
    punch_time: str
    punch_state: str | int | None = None
    verify_type: str | int | None = None
    terminal_sn: str | None = None
    terminal_alias: str | None = None
    temperature: float | str | None = None
    upload_time: str | None = None
    photo: Any = None
    captured: Any = None
    is_attendance: Any = None


_SMALL_NUMBERS: dict[str | int | None, int | None] = {None: None, "": None}
_SMALL_NUMBERS.update({str(number): number for number in range(256)})
_SMALL_NUMBERS.update({number: number for number in range(256)})


def punch_from(wire: PunchWire, times: LocalTimes, captured_photo: str | None) -> ParsedPunch:
    """Raises RowError with the field and the reason. `captured_photo` is where a captured picture is, with {id}."""
    remote_id = required_code(wire.id, "id") if type(wire.id) is not int or abs(wire.id) > 10**18 else str(wire.id)
    emp_code = wire.emp_code if type(wire.emp_code) is str else required_code(wire.emp_code, "emp_code")
    raw = wire.punch_time
    _refuse_bad_text(wire, emp_code)
    try:
        local, instant = times.read(raw)
        uploaded = times.read(wire.upload_time)[1] if wire.upload_time else None
    except TimeError as error:
        raise RowError(str(error)) from None
    state, verify = wire.punch_state, wire.verify_type
    heat = wire.temperature
    return ParsedPunch(
        remote_id,
        emp_code,
        raw,
        local,
        instant,
        _SMALL_NUMBERS[state] if state in _SMALL_NUMBERS else whole_number(state, "punch_state"),
        _SMALL_NUMBERS[verify] if verify in _SMALL_NUMBERS else whole_number(verify, "verify_type"),
        wire.terminal_sn or None,
        wire.terminal_alias or None,
        temperature(heat) if heat else None,
        uploaded,
        _photo(wire, remote_id, captured_photo) if wire.photo or wire.captured else None,
        False if wire.is_attendance is not None and is_no(wire.is_attendance) else None,
    )


def _refuse_bad_text(wire: PunchWire, emp_code: str) -> None:
    """All texts at once; one by one only when there is something to find."""
    together = f"{emp_code}{wire.punch_time}{wire.terminal_sn}{wire.terminal_alias}"
    if emp_code.strip() and len(together) <= _SHORT and together.isascii() and "\0" not in together:
        return
    required_code(emp_code, "emp_code")
    checked_text(wire.punch_time, "punch_time", RAW_TIME_LENGTH)
    checked_text(wire.terminal_sn or "", "terminal_sn", CODE_LENGTH)
    checked_text(wire.terminal_alias or "", "terminal_alias", NAME_LENGTH)


def _photo(wire: PunchWire, remote_id: str, captured_photo: str | None) -> str | None:
    if wire.photo:
        return reference(wire.photo)
    if wire.captured is True and captured_photo is not None:
        return captured_photo.format(id=remote_id)
    return None
