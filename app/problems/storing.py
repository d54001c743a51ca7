"""Writes what problems become: rows, history and counts. One at a time in each workspace."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import workspace_of
from app.problems import counting
from app.problems.events import MovedProblem, ProblemsMoved, tell
from app.problems.findings import Finding, Key
from app.problems.kinds import kinds
from app.problems.transitions import LATELY, KnownProblem, Merged, Renewal

LOCK = "hashtextextended('problems ' || CAST(:workspace AS text), 0)"
_WAIT = text(f"SELECT pg_advisory_xact_lock({LOCK})")
_MOVED = "id, kind, severity, subject_type, subject_id, title, detail, opened_at"
_GIVEN = """given AS (SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS g (
    id bigint, kind text, subject_type text, subject_id text, severity text, title text, detail text, held_punches bigint,
    held_people bigint, evidence bigint, facts jsonb, since timestamptz, note text, wakes boolean))"""
_SAID = """severity = given.severity, title = given.title, detail = given.detail, held_punches = given.held_punches,
    held_people = given.held_people, evidence = given.evidence, facts = given.facts, last_seen_at = now(), updated_at = now()"""
_OPEN = text(f"""
WITH {_GIVEN}, moved AS (
    INSERT INTO problems (kind, subject_type, subject_id, severity, title, detail, held_punches, held_people, evidence, facts, since)
    SELECT kind, subject_type, subject_id, severity, title, detail, held_punches, held_people, evidence, facts,
        coalesce(since, now()) FROM given
    RETURNING {_MOVED}
), noted AS (INSERT INTO problem_changes (problem_id, what) SELECT id, 'opened' FROM moved)
SELECT {_MOVED} FROM moved ORDER BY id
""")
_OPEN_AGAIN = text(f"""
WITH {_GIVEN}, moved AS (
    UPDATE problems p SET {_SAID}, closed_at = NULL, closed_by = NULL, stands = true, snoozed_until = NULL
    FROM given WHERE p.id = given.id
    RETURNING {", ".join(f"p.{one}" for one in _MOVED.split(", "))}
), noted AS (INSERT INTO problem_changes (problem_id, what) SELECT id, 'opened_again' FROM moved)
SELECT {_MOVED} FROM moved ORDER BY id
""")
_CHANGE = text(f"""
WITH {_GIVEN}, changed AS (
    UPDATE problems p SET {_SAID}, snoozed_until = CASE WHEN given.wakes THEN NULL ELSE p.snoozed_until END
    FROM given WHERE p.id = given.id
)
INSERT INTO problem_changes (problem_id, what, note) SELECT id, 'changed', note FROM given WHERE note <> ''
""")
_CLOSE = text(f"""
WITH moved AS (
    UPDATE problems SET closed_at = now(), closed_by = :by, stands = :stands, snoozed_until = NULL, updated_at = now()
    WHERE id = ANY(CAST(:ids AS bigint[])) AND closed_at IS NULL
    RETURNING {_MOVED}
), noted AS (INSERT INTO problem_changes (problem_id, what, user_id, note)
    SELECT id, :what, CAST(:user_id AS bigint), :note FROM moved)
SELECT {_MOVED} FROM moved ORDER BY id
""")
_STAND = text("UPDATE problems SET stands = :stands, updated_at = now() WHERE id = ANY(CAST(:ids AS bigint[]))")
_LEFT = text("""
SELECT p.id, p.kind, p.subject_type, p.subject_id, p.title, p.detail, p.held_punches, p.held_people, p.evidence, p.facts,
    p.opened_at, p.closed_at, p.closed_by, p.updated_at AS left_at
FROM problems p JOIN jsonb_to_recordset(CAST(:keys AS jsonb)) AS k (kind text, subject_type text, subject_id text)
    ON (k.kind, k.subject_type, k.subject_id) = (p.kind, p.subject_type, p.subject_id)
WHERE NOT p.stands AND p.closed_at IS NOT NULL AND p.updated_at > now() - CAST(:lately AS interval)
""")


async def wait_for_turn(db: AsyncSession) -> None:
    """Waits until no other transaction writes problems of this workspace. Only for acts and jobs that hold no other
    lock that a look needs; a look in the transaction of its cause never waits (app.problems.looking)."""
    await db.execute(_WAIT, {"workspace": workspace_of(db)})


async def left_lately(db: AsyncSession, keys: Iterable[Key]) -> Sequence[KnownProblem]:
    """Problems of these subjects that ceased to stand lately."""
    asked = [dict(zip(("kind", "subject_type", "subject_id"), key, strict=True)) for key in keys]
    rows = await db.execute(_LEFT, {"keys": _json(asked), "lately": LATELY}) if asked else ()
    return [KnownProblem(**row._mapping) for row in rows]  # noqa: SLF001 - its documented name


async def carry_out(db: AsyncSession, merged: Merged, *, quiet: Collection[str] = ()) -> None:
    """Writes a merge that changes something, and tells the listeners. Of problems that open, or open again, those of
    the kinds `quiet` and those of quiet findings are told as a sum. The caller holds the lock."""
    opened = [*await _moved(db, _OPEN, [_row(one) for one in merged.opening])]
    opened += await _moved(db, _OPEN_AGAIN, [_renewed(one) for one in merged.opening_again], again=True)
    if merged.changing:
        await db.execute(_CHANGE, {"rows": _json([_renewed(one) for one in merged.changing])})
    closed = await close(db, [one.id for one in merged.closing])
    for stands, ids in ((False, [one.id for one in merged.over]), (True, [one.problem.id for one in merged.returning])):
        if ids:
            await db.execute(_STAND, {"stands": stands, "ids": ids})
    woken = {one.finding.kind for one in merged.changing if one.wakes}
    if moved := woken | {one.kind for one in (*opened, *closed)}:
        await counting.count_again(db, moved)
    found = (*merged.opening, *(one.finding for one in merged.opening_again))
    old = {one.key for one in found if one.quiet or one.kind in quiet}
    aside: list[MovedProblem] = []
    loud: list[MovedProblem] = []
    for one in opened:
        (aside if (one.kind, one.subject_type, one.subject_id) in old else loud).append(one)
    await tell(db, ProblemsMoved(loud, closed))
    await tell(db, ProblemsMoved(aside, [], quiet=True))


async def close(
    db: AsyncSession, ids: Sequence[int], *, by: str = "itself", user_id: int | None = None, note: str = ""
) -> list[MovedProblem]:
    """Closes those that are open. A problem that a person closes still stands: it is dismissed."""
    if not ids:
        return []
    values = {"ids": sorted(ids), "by": by, "stands": by == "person", "user_id": user_id, "note": note}
    what = "dismissed" if by == "person" else "closed"
    rows = await db.execute(_CLOSE, values | {"what": what})
    return [MovedProblem(**row._mapping, closed_by=by) for row in rows]  # noqa: SLF001 - its documented name


async def _moved(
    db: AsyncSession, statement: TextClause, rows: Sequence[Mapping[str, Any]], *, again: bool = False
) -> list[MovedProblem]:
    found = await db.execute(statement, {"rows": _json(rows)}) if rows else ()
    return [MovedProblem(**row._mapping, again=again) for row in found]  # noqa: SLF001 - likewise


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "subject_type": finding.subject_type,
        "subject_id": finding.subject_id,
        "severity": kinds()[finding.kind].severity,
        "title": finding.title,
        "detail": finding.detail,
        "held_punches": finding.held_punches,
        "held_people": finding.held_people,
        "evidence": finding.evidence,
        "facts": finding.facts,
        "since": finding.since,
    }


def _renewed(one: Renewal) -> dict[str, Any]:
    return {**_row(one.finding), "id": one.problem.id, "note": one.note, "wakes": one.wakes}


def _json(rows: Sequence[Mapping[str, Any]]) -> str:
    return msgspec.json.encode(rows).decode()
