"""What must be the same before and after an upgrade: read by the product's own functions, as plain JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.figures import status as reports
from app.parts import Parts
from app.surveys.ledger import evidence, verifying
from app.surveys.models import WHOLE, Survey
from app.surveys.ratings import ratings
from app.surveys.results import tallies
from app.surveys.results.figures import counters
from app.surveys.results.tallies import TallyScope
from app.surveys.results.tally_rows import ASKED

_ATTENDANCE = """
SELECT a.id, a.employee_id, e.id_number, e.name, a.workday, a.kind, a.clock_in, a.clock_out, a.breaks::text AS breaks, a.status,
    a.source, a.note, a.edited_by, a.edited_from, a.decided_by, a.deleted_by, a.deleted_at IS NOT NULL AS deleted
FROM attendance_records a JOIN employees e ON e.id = a.employee_id ORDER BY a.id
"""
_PUNCHES = """
SELECT remote_id, emp_code, terminal_sn, punch_code, punched_at_raw, punched_at_utc, local_date, import_outcome, imported_role,
    host_attendance_id, settled_by IS NOT NULL AS reviewed
FROM clock_transactions ORDER BY id_generation, remote_id
"""
_BINDINGS = """
SELECT b.emp_code, p.full_name, b.state, b.method, b.host_employee_id, b.cleared, b.decided_by,
    (SELECT count(*) FROM clock_binding_history h WHERE h.binding_id = b.id) AS changes
FROM clock_employee_bindings b JOIN clock_employees p ON p.id = b.clock_employee_id ORDER BY b.emp_code
"""
_LEDGER = """
SELECT r.number, r.survey_id, r.version, r.user_id AS person, r.outcome, r.source, r.entry, encode(r.row_hash, 'hex') AS receipt, r.key_id, r.sealed,
    k.sealed_key, EXISTS (SELECT FROM survey_tombstones t WHERE t.number = r.number) AS removed
FROM survey_responses r LEFT JOIN survey_person_keys k ON k.id = r.key_id ORDER BY r.number
"""
_ACCOUNTS = "SELECT id, email, name, type, active, password_hash FROM users WHERE workspace = :workspace ORDER BY id"
_AUDIT = "SELECT id, act, subject_type, subject_id, before, after FROM audit_entries WHERE workspace = :workspace ORDER BY id"
_POLICIES = "SELECT name, value FROM policies WHERE workspace = :workspace ORDER BY name"
_SETTINGS = "SELECT name, value FROM clock_settings ORDER BY name"
_LOCKS = "SELECT day, locked_by FROM day_locks ORDER BY day"


async def everything(parts: Parts, workspaces: Sequence[str], now: datetime) -> dict[str, Any]:
    """By workspace."""
    found = {workspace: await _workspace(parts, workspace, now) for workspace in workspaces}
    plain: dict[str, Any] = json.loads(json.dumps(found, default=_plain))
    return plain


async def _workspace(parts: Parts, workspace: str, now: datetime) -> dict[str, Any]:
    verdict = await verifying.verify(parts.database, parts.keys, workspace)
    async with parts.database.transaction(workspace) as db:
        return {
            **await _lists(db, workspace),
            "figures": await _clock_figures(db, now),
            "surveys": await _survey_figures(db),
            "ratings": asdict(await ratings.figures(db)),
            "ledger": {"fits": verdict.fits, "rows": verdict.rows, "head": verdict.head},
            "answers": [_answer(parts, workspace, row) for row in await db.execute(text(_LEDGER))],
        }


async def _lists(db: AsyncSession, workspace: str) -> dict[str, Any]:
    statements = {
        "attendance": _ATTENDANCE, "punches": _PUNCHES, "bindings": _BINDINGS, "settings": _SETTINGS, "locks": _LOCKS,
    }  # fmt: skip
    shared = {"accounts": _ACCOUNTS, "audit": _AUDIT, "policies": _POLICIES}
    found = {name: await _rows(db, statement) for name, statement in statements.items()}
    return found | {name: await _rows(db, statement, workspace=workspace) for name, statement in shared.items()}


async def _rows(db: AsyncSession, statement: str, **values: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in (await db.execute(text(statement), values)).mappings()]


async def _clock_figures(db: AsyncSession, now: datetime) -> dict[str, Any]:
    status = await reports.status(db, now)
    status.pop("last_sync")
    last = now.date()
    return {**status, "days": await reports.daily_totals(db, last - timedelta(days=29), last)}


async def _survey_figures(db: AsyncSession) -> list[dict[str, Any]]:
    """Of every version that was answered. How many were asked is left out where the demo was removed:
    it counted invented people."""
    surveys = (
        await db.execute(
            select(Survey.id, Survey.uid, Survey.title, Survey.status, Survey.version, Survey.demo).order_by(Survey.id)
        )
    ).all()
    return [
        {**dict(one._mapping), "versions": [await _figures(db, one, version + 1) for version in range(one.version)]}
        for one in surveys
    ]


async def _figures(db: AsyncSession, survey: Any, version: int) -> dict[str, Any]:
    rows = [tuple(row) for row in await db.execute(tallies.figures(TallyScope(survey.id, version)))]
    whole = counters([(row[1], row[4], row[5]) for row in rows if row[2] == WHOLE], asked=ASKED)
    choices = sorted([str(row[2]), row[3], row[4]] for row in rows if row[2] != WHOLE)
    found: dict[str, Any] = {"outcomes": dict(sorted(whole.outcomes.items())), "choices": choices}
    return found if survey.demo else {**found, "asked": whole.asked}


def _answer(parts: Parts, workspace: str, row: Any) -> dict[str, Any]:
    """With the evidence as it opens; None where its key is destroyed."""
    opened = evidence.open(parts.keys, workspace, row)
    told: Mapping[str, Any] = {
        name: getattr(row, name) for name in ("number", "outcome", "source", "entry", "receipt", "removed")
    }
    return {**told, "evidence": opened and {"ip": opened.ip, "browser": opened.browser, "texts": opened.texts}}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date | datetime) else str(value)
