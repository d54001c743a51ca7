"""Writes a page of a complete listing: organisation, terminals, people; and marks who is missing once it is complete.

Rows are keyed by code or serial, so that remarks and bindings survive new remote ids.
Punches are in mirror/punch_rows.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import rows as binding_rows
from app.clock.mirror.counts import Counts
from app.clock.parsing import ParsedDevice, ParsedEmployee, Ref, Unit
from app.clock.punches import marks

Known = Mapping[str, Mapping[str, str]]
"""Resource → remote id → code, for rows that name another one by its id alone."""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One mirrored table: its key and its columns with their SQL types, and how a row becomes a record. `dated` maps
    columns to those that keep when they last changed."""

    table: str
    key: str
    columns: Mapping[str, str]
    record: Callable[[Any, Known], dict[str, Any]]
    dated: Mapping[str, str] = field(default_factory=dict)

    @property
    def count(self) -> TextClause:
        old, new = (", ".join(f"{alias}.{name}" for name in self.columns) for alias in ("t", "g"))
        return text(
            f"""
            SELECT count(*) FILTER (WHERE t.id IS NULL) AS created,
                count(*) FILTER (WHERE t.id IS NOT NULL
                    AND (({old}) IS DISTINCT FROM ({new}) OR t.absent_since IS NOT NULL)) AS updated
            FROM {self._given} LEFT JOIN {self.table} t ON t.{self.key} = g.{self.key}
            """
        )

    @property
    def upsert(self) -> TextClause:
        names = [self.key, *self.columns]
        old, new = (", ".join(f"{alias}.{name}" for name in self.columns) for alias in ("t", "excluded"))
        return text(
            f"""
            INSERT INTO {self.table} AS t ({", ".join(names)}, seen)
            SELECT {", ".join(f"g.{name}" for name in names)}, :generation FROM {self._given}
            ON CONFLICT ({self.key}) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in self.columns)},
                seen = :generation, absent_since = NULL,{self._dates}
                updated_at = CASE WHEN ({old}) IS DISTINCT FROM ({new}) OR t.absent_since IS NOT NULL
                    THEN now() ELSE t.updated_at END
            """
        )

    @property
    def _dates(self) -> str:
        return "".join(
            f" {at} = CASE WHEN t.{name} IS DISTINCT FROM excluded.{name} THEN now() ELSE t.{at} END,"
            for name, at in self.dated.items()
        )

    @property
    def _given(self) -> str:
        kinds = ", ".join(f"{name} {kind}" for name, kind in {self.key: "text", **self.columns}.items())
        return f"jsonb_to_recordset(CAST(:rows AS jsonb)) AS g ({kinds})"


def _unit(unit: Unit, known: Known, resource: str) -> dict[str, Any]:
    return {
        "code": unit.code,
        "name": unit.name,
        "parent_code": code_of(unit.parent, known.get(resource, {})),
        "remote_id": unit.remote_id,
    }


def _device(device: ParsedDevice, known: Known) -> dict[str, Any]:
    return {
        "sn": device.sn,
        "remote_id": device.remote_id,
        "alias": device.alias or device.terminal_name,
        "ip_address": device.ip_address,
        "firmware": device.firmware,
        "state": device.state,
        "last_activity_at": device.last_activity_at,
        "area_code": code_of(device.area, known.get("areas", {})),
        "remote_attendance": device.is_attendance,
        "terminal_tz": device.terminal_tz,
        "user_count": device.user_count,
        "fingerprint_count": device.fingerprint_count,
        "face_count": device.face_count,
        "palm_count": device.palm_count,
        "transaction_count": device.transaction_count,
    }


def _employee(person: ParsedEmployee, known: Known) -> dict[str, Any]:
    areas = (code_of(area, known.get("areas", {})) for area in person.areas)
    return {
        "emp_code": person.emp_code,
        "remote_id": person.remote_id,
        "first_name": person.first_name,
        "last_name": person.last_name,
        "full_name": person.full_name,
        "department_code": code_of(person.department, known.get("departments", {})),
        "position_code": code_of(person.position, known.get("positions", {})),
        "area_codes": [code for code in areas if code],
        "email": person.email,
        "hired_on": person.hired_on,
        "active": person.active,
        "has_fingerprint": person.enrolled.fingerprint,
        "has_face": person.enrolled.face,
        "has_palm": person.enrolled.palm,
        "has_card": person.enrolled.card,
        "has_password": person.enrolled.password,
        "photo_ref": person.photo_ref,
    }


def code_of(ref: Ref | None, codes: Mapping[str, str]) -> str | None:
    """The code that a reference names, by itself or by the remote id of a mirrored row."""
    if ref is None:
        return None
    return ref.code or codes.get(ref.remote_id or "")


_UNIT_COLUMNS = {"name": "text", "parent_code": "text", "remote_id": "text"}
_COUNTERS = ("user_count", "fingerprint_count", "face_count", "palm_count")
LISTINGS: dict[str, TableSpec] = {
    **{
        resource: TableSpec(
            f"clock_{resource}",
            "code",
            _UNIT_COLUMNS,
            partial(_unit, resource=resource),
        )
        for resource in ("departments", "positions", "areas", "locations")
    },
    "devices": TableSpec(
        "clock_devices",
        "sn",
        {
            "remote_id": "text", "alias": "text", "ip_address": "text", "firmware": "text", "state": "text",
            "last_activity_at": "timestamptz", "area_code": "text", "remote_attendance": "boolean", "terminal_tz": "text",
            **dict.fromkeys(_COUNTERS, "int"), "transaction_count": "bigint",
        },
        _device,
    ),
    "employees": TableSpec(
        "clock_employees",
        "emp_code",
        {
            "remote_id": "text", "first_name": "text", "last_name": "text", "full_name": "text",
            "department_code": "text", "position_code": "text", "area_codes": "text[]", "email": "text",
            "hired_on": "date", "active": "boolean", "has_fingerprint": "boolean", "has_face": "boolean",
            "has_palm": "boolean", "has_card": "boolean", "has_password": "boolean", "photo_ref": "text",
        },
        _employee,
        {"full_name": "named_at"},
    ),
}  # fmt: skip
_STATEMENTS = {resource: (listing.count, listing.upsert) for resource, listing in LISTINGS.items()}


async def write_listing(db: AsyncSession, resource: str, generation: int, rows: Sequence[Any], known: Known) -> Counts:
    """Makes and updates rows, and marks them as seen in this generation of the listing. Repeats count as unchanged."""
    listing = LISTINGS[resource]
    records = {record[listing.key]: record for record in (listing.record(row, known) for row in rows)}
    if not records:
        return Counts()
    count, upsert = _STATEMENTS[resource]
    given = msgspec.json.encode(list(records.values())).decode()
    created, updated = (await db.execute(count, {"rows": given})).one()
    if resource == "devices":
        await marks.mark_changed_readers(db, given)
    await db.execute(upsert, {"rows": given, "generation": generation})
    if resource == "employees":
        await binding_rows.make_some(db, list(records), binding_rows.FIRST_MIRRORED)
    return Counts(created=created, updated=updated, unchanged=len(rows) - created - updated)


async def known_codes(db: AsyncSession, resources: Sequence[str]) -> dict[str, dict[str, str]]:
    """Remote id → code of what is mirrored of these resources."""
    found: dict[str, dict[str, str]] = {}
    for resource in resources:
        listing = LISTINGS[resource]
        rows = await db.execute(
            text(f"SELECT remote_id, {listing.key} FROM {listing.table} WHERE remote_id IS NOT NULL")
        )
        found[resource] = {row.remote_id: row[1] for row in rows}
    return found
