"""What the server changed of punches that are known: told apart from a restored database, kept as history,
and judged again.

All of it is SQL over a page in the temporary table of mirror/punch_rows.py, in the transaction that writes the page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.punches import marks
from app.clock.punches.settled import ended_where

# A restore is assumed from this many rows and this share of those known on one page (docs/clock-servers.md).
FEWEST, SHARE = 3, 0.01
ASIDE = (
    "The number of a known punch, with another person and another time. Many such rows mean that the server's database was "
    "restored. These are too few for that, so the punch stays as it was."
)
JOIN = "incoming_punches i JOIN clock_transactions t ON t.id_generation = :generation AND t.remote_id = i.remote_id"
# A person whose code was changed on the server keeps the server's id. So another id under a known punch is another
# person.
_OTHER_PERSON = """(t.emp_code <> i.emp_code AND NOT EXISTS (
    SELECT 1 FROM clock_employees a JOIN clock_employees b ON a.remote_id = b.remote_id
    WHERE a.emp_code = t.emp_code AND b.emp_code = i.emp_code))"""
# Local and instant both: a changed zone moves one of them.
_OTHER_TIME = "(t.punched_at_local <> i.punched_at_local AND t.punched_at_utc <> i.punched_at_utc)"
# A difference of one hour does not mean a restore: the cloud reads a repeated hour by the zone of the request.
_REPEATED_HOUR = "(:by_instant AND abs(extract(epoch FROM t.punched_at_utc - i.punched_at_utc)) = 3600)"
ANOTHER_PUNCH = f"({_OTHER_PERSON} AND {_OTHER_TIME} AND NOT {_REPEATED_HOUR})"
_SET_ASIDE = text("DELETE FROM incoming_punches WHERE remote_id = ANY(CAST(:ids AS text[]))")

_FIELDS = "punched_at_raw", "punched_at_local", "punched_at_utc", "emp_code", "terminal_sn", "punch_code"
EDITED = "({}) IS DISTINCT FROM ({})".format(*(", ".join(f"{row}.{name}" for name in _FIELDS[1:]) for row in "ti"))


def _told(row: str) -> str:
    return "jsonb_build_object(" + ", ".join(f"'{name}', {row}.{name}" for name in _FIELDS) + ")"


_REMEMBER = text(
    f"""
    INSERT INTO clock_punch_changes (punch_id, run_id, before, after, record_id)
    SELECT t.id, :run_id, changed.before, changed.after, coalesce(t.host_attendance_id, t.edited_record_id)
    FROM {JOIN} CROSS JOIN LATERAL (
        SELECT jsonb_object_agg(key, was.value) AS before, jsonb_object_agg(key, now.value) AS after
        FROM jsonb_each({_told("t")}) AS was JOIN jsonb_each({_told("i")}) AS now USING (key) WHERE was.value <> now.value
    ) AS changed
    WHERE {EDITED}
    """
)
# Around the old time of the punch. Around its new time the punch itself is judged, with all that depends on it.
_MARK_NEAR = text(
    f"""
    WITH places AS (
        SELECT t.emp_code, t.punched_at_utc AS at FROM {JOIN} WHERE {EDITED}
    ), {marks.NEAR_PLACES}
    """
)
# Another time or code makes it a new tap, which remembers the record that it leaves; another person alone is a
# re-binding, which a punch without a record begins as if it had just come (docs/rules.md,
# "When a punch is judged again").
_NEW_TAP = f"({_OTHER_TIME} OR t.punch_code IS DISTINCT FROM i.punch_code)"
_LEAVES = f"({_NEW_TAP} AND t.host_attendance_id IS NOT NULL)"
_ANOTHER_OUTCOME = f"({_NEW_TAP} OR t.gone_at_utc IS NOT NULL OR (t.host_attendance_id IS NULL AND {_OTHER_PERSON}))"
CHANGES = f"""
    edited_record_id = CASE WHEN {_LEAVES} THEN t.host_attendance_id ELSE t.edited_record_id END,
    edited_from_utc = CASE WHEN {_LEAVES} THEN t.punched_at_utc ELSE t.edited_from_utc END,
    imported_role = CASE WHEN {_LEAVES} THEN NULL ELSE t.imported_role END,
    imported_at_utc = CASE WHEN {_LEAVES} THEN NULL ELSE t.imported_at_utc END,
    host_attendance_id = CASE WHEN {_LEAVES} THEN NULL ELSE t.host_attendance_id END,
    import_outcome = CASE
        WHEN {_NEW_TAP} OR (t.host_attendance_id IS NULL AND (t.gone_at_utc IS NOT NULL OR {_OTHER_PERSON})) THEN NULL
        ELSE t.import_outcome END,
    {ended_where(_ANOTHER_OUTCOME, "t")},
    gone_at_utc = NULL,
    judge_at = CASE
        WHEN {EDITED} OR t.gone_at_utc IS NOT NULL OR t.remote_attendance IS DISTINCT FROM i.remote_attendance THEN {marks.DUE}
        ELSE t.judge_at END
"""


class RestoredError(Exception):
    """Known ids mean other punches now: the server's database was restored, and its ids began again
    (docs/clock-servers.md, "Edits and deletions")."""

    def __init__(self, remote_id: str) -> None:
        super().__init__(remote_id)
        self.sentence = (
            f"Punch {remote_id} of the server is another punch now: its database was restored, and its ids started over. "
            "Choose “Start over from a date” in the Sync Center."
        )


def is_restore(known: int, others: int) -> bool:
    """True when so many of the known rows of a page mean other punches that the server's ids must have begun again."""
    return others >= FEWEST and others >= SHARE * known


async def set_aside(db: AsyncSession, known: int, others: Sequence[str]) -> None:
    """Takes rows that mean another punch off the page. Raises RestoredError where they are too many for that."""
    if is_restore(known, len(others)):
        raise RestoredError(others[0])
    await db.execute(_SET_ASIDE, {"ids": others})


async def remember(db: AsyncSession, page: Mapping[str, Any]) -> None:
    """Keeps what edited punches were, and marks the waiting punches near their old time, to be judged again. Call it
    before the page is written. `page` gives `generation` and `run_id`."""
    await db.execute(_REMEMBER, page)
    await db.execute(_MARK_NEAR, page)
