"""What a row becomes: one struct for each resource, with only what is stored or shown. Pure."""

from datetime import date, datetime

import msgspec


class ParsedPunch(msgspec.Struct, frozen=True, gc=False):
    """`punched_at_local` is naive in the connection's zone, `punched_at_utc` and `uploaded_at_utc` are aware UTC.

    `code` and `verify` are the numbers as sent (None: nothing sent); `temperature` is in degrees, None when not
    measured. `is_attendance` is False when the server says that the punch does not count for attendance, else None.
    """

    remote_id: str
    emp_code: str
    punched_at_raw: str
    punched_at_local: datetime
    punched_at_utc: datetime
    code: int | None
    verify: int | None
    terminal_sn: str | None
    terminal_alias: str | None
    temperature: float | None
    uploaded_at_utc: datetime | None
    photo_ref: str | None
    is_attendance: bool | None = None


class Ref(msgspec.Struct, frozen=True):
    """A reference to another row."""

    remote_id: str | None
    code: str | None


class Enrolment(msgspec.Struct, frozen=True):
    fingerprint: bool
    face: bool
    palm: bool
    card: bool
    password: bool


class ParsedEmployee(msgspec.Struct, frozen=True):
    """`active` is False when the remote says disabled or attendance off; the mobile app's switch does not count."""

    remote_id: str
    emp_code: str
    first_name: str | None
    last_name: str | None
    department: Ref | None
    position: Ref | None
    areas: tuple[Ref, ...]
    email: str | None
    hired_on: date | None
    active: bool
    enrolled: Enrolment
    photo_ref: str | None

    @property
    def full_name(self) -> str:
        return " ".join(part.strip() for part in (self.first_name, self.last_name) if part)


class ParsedDevice(msgspec.Struct, frozen=True):
    """`state` is online, offline or unknown; counts are None when the server says nothing;
    `terminal_tz` is text as it came."""

    remote_id: str
    sn: str
    alias: str | None
    terminal_name: str | None
    ip_address: str | None
    firmware: str | None
    state: str
    area: Ref | None
    last_activity_at: datetime | None
    user_count: int | None
    fingerprint_count: int | None
    face_count: int | None
    palm_count: int | None
    transaction_count: int | None
    is_attendance: bool | None
    terminal_tz: str | None


class Unit(msgspec.Struct, frozen=True):
    """A department, position, area or location."""

    remote_id: str
    code: str
    name: str
    parent: Ref | None


class ParsedShift(msgspec.Struct, frozen=True):
    """What one person was to work on one day, for reading on demand. Times are naive local."""

    day: date
    name: str | None
    starts_at: datetime | None
    ends_at: datetime | None
    break_minutes: int | None
    day_off: bool


class UnreadableRow(msgspec.Struct, frozen=True):
    """A row that could not be read: `raw` is redacted JSON text of at most 2 KiB."""

    raw: str
    reason: str
