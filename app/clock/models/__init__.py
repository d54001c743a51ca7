"""The tables of the mirror, in every workspace, by what they are about. No query lives here."""

from app.clock.models.bindings import Binding, BindingChange
from app.clock.models.changes import OwnerChange, OwnerChangeCode, Rejudging, ZoneChange
from app.clock.models.connection import ApiLog, Connection, Setting
from app.clock.models.counts import DailyTotal, HourCount, PersonCount, PunchCount, StaleDay, WaitingCount
from app.clock.models.people import Area, ClockEmployee, Department, Location, Position
from app.clock.models.punches import ImportedRecord, MissingPunch, Punch, PunchChange
from app.clock.models.runs import Cursor, Lease, SetAside, SyncRun
from app.clock.models.terminals import Device

__all__ = [
    "ApiLog",
    "Area",
    "Binding",
    "BindingChange",
    "ClockEmployee",
    "Connection",
    "Cursor",
    "DailyTotal",
    "Department",
    "Device",
    "HourCount",
    "ImportedRecord",
    "Lease",
    "Location",
    "MissingPunch",
    "OwnerChange",
    "OwnerChangeCode",
    "PersonCount",
    "Position",
    "Punch",
    "PunchChange",
    "PunchCount",
    "Rejudging",
    "SetAside",
    "Setting",
    "StaleDay",
    "SyncRun",
    "WaitingCount",
    "ZoneChange",
]
