"""A workspace that holds one of everything, for walks through all pages; and the addresses of what it holds."""

import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import demo
from app.accounts.models import ApiToken, Job, OneTimeLink, Passkey, Role, Session, UserType
from app.clock.models import Cursor, SetAside
from app.clock.pages import binding_acts
from app.host.applications.icons import Icon
from app.host.attendance import day_locks
from app.host.backups.models import BackupWatch
from app.host.models import SavedView
from app.host.pages import apps, people
from app.host.pages.admin import users
from app.host.people import kiosk
from app.long_acts.models import LongAct, LongActItem
from app.mail import unsubscribing
from app.mail.unsubscribing import Wish
from app.parts import Parts
from app.problems.models import Problem
from app.secrets import KeyRing
from app.surveys.demo import seed as surveys
from app.webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from tests.clock.syncing import Site, site
from tests.conftest import KEYS
from tests.host.library import PNG, add_app
from tests.host.signing_in import user_id_of
from tests.host.staff import ALICE, hire, work
from tests.surveys.changing import agree, badges
from tests.surveys.drafted import drafted, published

SECRET = "the-secret-of-a-link"
MANY = 60  # of what an act takes away for good
# The last part of those addresses is one of so many words.
ACTS = {
    "/admin/tenants/{key}/{action}": ("deactivate", "activate"),
    "/admin/users/{user_id}/{action}": tuple(users.ACTS),
    "/apps/{app_id}/{action}": (*apps.ACTS, "delete"),
    "/clock_employees/{employee_id}/{act}": tuple(binding_acts.ACTS),
    "/people/{employee_id}/{action}": tuple(people.ACTS),
}
# What stands in a part of an address: of those whose beginning is the route's, the first that has the part. A statement
# finds what is still there after the acts before.
_PARTS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "/account",
        {
            "session_id": "SELECT max(public_id) FROM sessions WHERE user_agent = 'of each'",
            "token_id": "SELECT max(id) FROM api_tokens WHERE revoked_at IS NULL",
            "passkey_id": "SELECT max(id) FROM passkeys",
        },
    ),
    ("/clock_settings/sections", {"key": "rules"}),
    ("/help/api", {"name": "integration"}),
    ("/help", {"name": "rules"}),
    ("/admin/tokens", {"token_id": "SELECT max(id) FROM api_tokens WHERE revoked_at IS NULL"}),
    ("/admin/audit", {"entry_id": "SELECT max(id) FROM audit_entries WHERE workspace = 'main'"}),
    ("/admin/jobs", {"job_id": "SELECT max(id) FROM jobs WHERE status = 'failed'"}),
    ("/admin/roles", {"role_id": "SELECT max(id) FROM roles WHERE workspace = 'main' AND NOT builtin"}),
    ("/admin/users/types", {"key": "SELECT max(key) FROM user_types WHERE key LIKE 'guest%'"}),
    ("/admin/tenants", {"key": "globex", "user_id": "SELECT id FROM users WHERE email = 'eve@example.org'"}),
    ("/admin/users", {"user_id": "SELECT min(id) FROM users WHERE workspace = 'main' AND email NOT LIKE 'alice%'"}),
    ("/people/erase", {"user_id": "SELECT max(user_id) FROM survey_person_keys WHERE erased_at IS NULL"}),
    ("/apps/icon", {"uid": "SELECT max(uid::text) FROM applications WHERE icon IS NOT NULL"}),
    ("/apps", {"app_id": "SELECT max(id) FROM applications WHERE deleted_at IS NULL"}),
    ("/attendance/people", {"employee_id": "SELECT max(id) FROM employees WHERE deleted_at IS NULL"}),
    ("/attendance/days", {"day": "2026-11-20"}),
    ("/attendance", {"record_id": "SELECT max(id) FROM attendance_records WHERE deleted_at IS NULL"}),
    ("/clock_devices", {"device_id": "SELECT max(id) FROM clock_devices"}),
    ("/acts", {"act_id": "SELECT max(id) FROM clock_long_acts WHERE kind = 'people.delete'"}),
    ("/clock_employees/acts", {"act_id": "SELECT max(id) FROM clock_long_acts WHERE kind = 'take_back'"}),
    ("/clock_transactions/acts", {"act_id": "SELECT max(id) FROM clock_long_acts WHERE kind = 'use'"}),
    ("/clock_employees", {"employee_id": "SELECT max(id) FROM clock_employees"}),
    ("/clock_logs", {"log_id": "SELECT max(id) FROM clock_api_logs"}),
    ("/clock_organization", {"kind": "departments", "unit_id": "SELECT max(id) FROM clock_departments"}),
    ("/clock_sync", {"run_id": "SELECT max(id) FROM clock_sync_runs", "resource": "devices"}),
    ("/clock_transactions", {"punch_id": "SELECT max(id) FROM clock_transactions"}),
    ("/people", {"employee_id": "SELECT max(id) FROM employees WHERE deleted_at IS NULL"}),
    ("/preferences", {"name": "people"}),
    ("/problems", {"problem_id": "SELECT min(id) FROM problems WHERE closed_at IS NULL"}),
    ("/webhooks/log", {"attempt_id": "SELECT max(id) FROM webhook_attempts"}),
    ("/webhooks", {"webhook_id": "SELECT max(id) FROM webhook_endpoints"}),
    ("/views", {"name": "people", "view_id": "SELECT max(id) FROM saved_views"}),
    (
        "/surveys/response_modal",
        {"receipt": "SELECT encode(row_hash, 'hex') FROM survey_responses ORDER BY number LIMIT 1"},
    ),
    (
        "/me/answers",
        {"receipt": "SELECT encode(row_hash, 'hex') FROM survey_responses WHERE user_id = 1 AND outcome = 'agreed'"},
    ),
    (
        "/me/questions",
        {
            "uid": "SELECT max(s.uid::text) FROM surveys s JOIN survey_questions q ON q.survey_id = s.id"
            " WHERE s.status = 'published' AND s.user_types = '{}' AND q.type = 'free_text' AND s.ends_at IS NULL"
        },
    ),
    ("/surveys/archive", {"uid": "SELECT max(uid::text) FROM surveys WHERE status = 'published'"}),
    ("/surveys/view", {"uid": "SELECT max(uid::text) FROM surveys WHERE status <> 'draft'"}),
    ("/surveys", {"uid": "SELECT max(uid::text) FROM surveys WHERE status = 'draft' AND deleted_at IS NULL"}),
    ("/welcome", {"secret": SECRET}),
    ("/mail/unsubscribe", {"token": unsubscribing.token(KeyRing.from_text(KEYS), Wish(1, unsubscribing.SURVEYS))}),
)


@asynccontextmanager
async def one_of_each(parts: Parts) -> AsyncIterator[Site]:
    """The platform's workspace with people, a mirrored time clock and what waits there, surveys, apps, tokens, jobs,
    and Alice in more than one browser, with a passkey."""
    now = datetime.now(UTC)
    async with site(parts, employees=6, days=3) as found:
        async with parts.database.transaction() as db:
            await surveys.seed(db, parts.keys, now, crowd=6)
            for number in range(9):
                await drafted(db, title=f"Draft {number}")
                await published(db, title=f"Published {number}", user_types=["client"])
            await demo.seed(db, demo.staff(6, 7))
            ada = await hire(db)
            for day in range(1, 9):
                await work(db, ada, f"08:00 2026-10-0{day}", f"17:00 2026-10-0{day}")
            for number in range(MANY):
                await add_app(db, f"App {number}", icon=Icon("image/png", PNG))
            await kiosk.enrol(db, ALICE, "9000", ada)
            await day_locks.lock(db, ALICE, date(2026, 1, 1), date(2026, 1, 1))
        run_id = await found.start()
        await found.run_of(run_id)
        async with parts.database.transaction() as db:
            waiting = {"missing": 1, "known": 4, "listed": 3, "generation": 1, "at": now.isoformat(), "run_id": run_id}
            missing = {"state": "refused", "pending": {**waiting, "examples": [], "digest": "", "refused_by": None}}
            await db.execute(update(Cursor).where(Cursor.resource == "devices").values(missing))
            aside = {"run_id": run_id, "resource": "devices", "raw": "{}", "reason": "It has no number."}
            await db.execute(insert(SetAside).values(aside))
            views = {"list": "people", "query": "q=ada", "user_id": 1, "shared": True}
            await db.execute(insert(SavedView), [{**views, "name": f"View {number}"} for number in range(MANY)])
            for kind, became in (("take_back", "decided"), ("use", "overlaps")):
                over = insert(LongAct).values(kind=kind, actor_name="Bob", finished_at=now).returning(LongAct.id)
                item = {"act_id": await db.scalar(over), "item_id": 1, "became": became}
                await db.execute(insert(LongActItem).values(item))
            over_list = {"list_query": "q=ada", "arguments": {"url": "/people", "what": {}, "by": {}}, "total": 1}
            await db.execute(insert(LongAct).values(kind="people.delete", actor_name="Bob", **over_list))
        await _fill_the_host(parts, now)
        yield found


async def _fill_the_host(parts: Parts, now: datetime) -> None:
    alice, nora = [await user_id_of(parts.database, short) for short in ("alice", "nora")]
    await agree(parts.database, parts.keys, await badges(parts.database), alice)
    soon, keys = now + timedelta(hours=1), [hashlib.sha256(bytes([number])).digest() for number in range(MANY)]
    browser = {"user_id": alice, "ip": "192.0.2.1", "user_agent": "of each", "expires_at": soon}
    token = {"user_id": alice, "name": "Ours", "hint": "abcd", "scopes": ["me"]}
    passkey = {"user_id": alice, "name": "Key", "site": "muster.example", "public_key": b"", "sign_count": 0}
    job = {
        "workspace": "main",
        "name": "clock_sync",
        "status": "failed",
        "attempt": 3,
        "due_at": now,
        "error": "Broken.",
    }
    role = {"workspace": "main", "permissions": ["host.people"]}
    link = {"user_id": nora, "expires_at": soon, "token_hash": hashlib.sha256(SECRET.encode()).digest()}
    async with parts.database.shared_transaction() as db:
        await db.execute(insert(Session), [{**browser, "id_hash": key} for key in keys])
        await db.execute(insert(ApiToken), [{**token, "token_hash": key} for key in keys])
        await db.execute(insert(Passkey).values(**passkey, credential_id=keys[0]))
        await db.execute(insert(Job), [{**job, "key": str(number)} for number in range(MANY)])
        job_id = await db.scalar(select(func.max(Job.id)))
        await db.execute(insert(Role), [{**role, "name": f"Role {number}"} for number in range(MANY)])
        types = [{"workspace": "main", "key": f"guest{number}", "label": f"Guest {number}"} for number in range(MANY)]
        await db.execute(insert(UserType), types)
        await db.execute(insert(OneTimeLink).values(link))
        await db.execute(insert(BackupWatch).values(secret_hash=b"", hint="abcd", made_by="Alice", last_ping_at=now))
    facts = {"job": job_id, "department": "Canteen", "terminal": "T1"}
    problem = {
        "kind": "job_failed",
        "subject_type": "job",
        "severity": "warning",
        "facts": facts,
        "since": now,
        "detail": "Broken.",
    }
    states: tuple[dict[str, Any], ...] = ({}, {"snoozed_until": soon}, {"closed_at": now, "closed_by": "person"})
    async with parts.database.transaction() as db:
        for state in states:
            rows = [{"title": f"Job {number} failed", "subject_id": f"{state}{number}"} for number in range(MANY)]
            await db.execute(insert(Problem), [{**problem, **state, **row} for row in rows])
        await fill_webhooks(db)


async def fill_webhooks(db: AsyncSession) -> None:
    """Of each state, and none of them leads anywhere."""
    hook = {
        "types": ["attendance.changed"],
        "secret": "sealed",
        "made_by": "Alice Ahn",
        "url": "http://127.0.0.1:9/x?key=1",
    }
    for number in range(MANY // 2):
        state = ({}, {"active": False, "off_reason": "Gone."}, {"failures": 7})[number % 3]
        hook_id = await db.scalar(insert(WebhookEndpoint).values({**hook, **state}).returning(WebhookEndpoint.id))
        event = {
            "endpoint_id": hook_id,
            "message_id": f"msg_{number}",
            "type": "attendance.changed",
            "ids": ["1"],
            "number": 1,
        }
        event_id = await db.scalar(insert(WebhookEvent).values(event).returning(WebhookEvent.id))
        call = {"endpoint_id": hook_id, "event_id": event_id, "attempt": 1, "duration_ms": 12, "delivered": False}
        call |= {"http_status": 500, "error": "The receiver answered 500.", "sent": '{"type":"attendance.changed"}'}
        await db.execute(insert(WebhookAttempt).values(call))


async def addresses(found: Site, route: str) -> list[str]:
    """Of a route, by its `path_format`: with what its parts stand for, one for each word that it may end with."""
    filled = route
    for name in re.findall(r"\{(\w+)\}", route):
        if name not in ("action", "act"):
            filled = filled.replace(f"{{{name}}}", str(await _part(found, route, name)))
    return [re.sub(r"\{\w+\}$", word, filled) for word in ACTS.get(route, ("",))]


async def _part(found: Site, route: str, name: str) -> Any:
    rules = [parts[name] for start, parts in _PARTS if route.startswith(f"{start}/") and name in parts]
    assert rules, f"{route} is new: say in _PARTS what its {name} is"
    if not rules[0].startswith("SELECT"):
        return rules[0]
    value = await found.scalar(rules[0])
    assert value is not None, f"no {name} is left for {route}"
    return value
