"""Punches by the records that they belong to, or left when they were edited on the server; of all codes. Reads only."""

from collections.abc import Iterable

import asyncpg

from app.clock.pairing.inputs import PairingPunch

_OF_RECORDS = """
SELECT id, remote_id, emp_code, punched_at_utc, punch_code, import_outcome, host_attendance_id, imported_role
FROM clock_transactions WHERE host_attendance_id = ANY($1::bigint[]) ORDER BY id
"""
_EDITED = """
SELECT id, remote_id, emp_code, punched_at_utc, punch_code, edited_record_id, edited_from_utc
FROM clock_transactions WHERE edited_record_id = ANY($1::bigint[]) ORDER BY id
"""


async def punches_of_records(connection: asyncpg.Connection, record_ids: Iterable[int | None]) -> list[PairingPunch]:
    """Every punch that belongs to these records, of all codes."""
    return [
        PairingPunch(row[0], row[1], row[2], row[3], row[4], outcome=row[5], record_id=row[6], imported_role=row[7])
        for row in await connection.fetch(_OF_RECORDS, list(record_ids))
    ]


async def edited_punches_of(connection: asyncpg.Connection, record_ids: Iterable[int]) -> list[PairingPunch]:
    """Every punch that left one of these records when it was edited on the server, of all codes."""
    return [
        PairingPunch(row[0], row[1], row[2], row[3], row[4], edited_record=row[5], edited_from=row[6])
        for row in await connection.fetch(_EDITED, list(record_ids))
    ]
