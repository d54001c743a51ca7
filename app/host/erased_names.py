"""The people in the values before and after an act, as the audit shows them: a name instead of an id, also for former
people, and no name for erased ones. The stored values stay."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit_words import differences, field_of, subject_label
from app.accounts.erased import ERASED_PERSON, was_erased
from app.accounts.models import User
from app.dates import PageZone
from app.db.among import among
from app.db.session import workspace_of
from app.host.models import Employee

Values = Mapping[str, Any]
# The kind of subject, and the values before and after.
Act = tuple[str, Values | None, Values | None]
Names = Mapping[tuple[str, int], str]
Differences = list[tuple[str, str | None, str | None]]
# Fields that hold words of Muster itself, such as the role Administrator. A person may have such a name.
_NOT_NAMES = frozenset({"roles", "permissions", "scopes", "type", "kind", "status", "state", "outcome", "method"})
_ASKED = {
    "employee": select(
        literal("employee").label("kind"), Employee.id, Employee.name, was_erased(Employee.user_id).label("erased")
    ),
    "user": select(literal("user").label("kind"), User.id, User.name, was_erased(User.id).label("erased")),
}
# Accounts that are gone, as the audit last named them: as what an act was about, or as the one who acted.
_FORMER = text("""
SELECT one.id, coalesce(
    (SELECT coalesce(a.after->>'name', a.before->>'name') FROM audit_entries a WHERE a.workspace = :workspace
        AND a.subject_type = 'user' AND a.subject_id = one.id::text AND coalesce(a.after->>'name', a.before->>'name') <> ''
        ORDER BY a.id DESC LIMIT 1),
    (SELECT (array_agg(a.actor_name ORDER BY a.id DESC))[1] FROM audit_entries a
        WHERE a.workspace = :workspace AND a.actor_id = one.id)) AS name,
    EXISTS (SELECT FROM audit_entries a WHERE a.act = 'person.erase' AND a.subject_type = 'user'
        AND a.subject_id = one.id::text) AS erased
FROM unnest(CAST(:ids AS bigint[])) AS one (id)
""")
# Every name and e-mail address that an erased person has or had here and that occurs in a text.
# It looks at people of all
# workspaces: the platform makes administrators of tenants, and its operators act in both.
_FIND = text("""
WITH erased AS (
    SELECT DISTINCT a.subject_id::bigint AS id FROM audit_entries a
    WHERE a.act = 'person.erase' AND a.subject_type = 'user' AND a.subject_id ~ '^[0-9]{1,18}$'
), accounts AS (
    SELECT u.id, u.name, u.email FROM users u JOIN erased ON erased.id = u.id
), staff AS (
    SELECT e.id, e.name, e.email FROM employees e JOIN accounts ON accounts.id = e.user_id
), noted AS (
    SELECT a.before, a.after FROM audit_entries a WHERE a.workspace = :workspace AND (
        (a.subject_type = 'user' AND a.subject_id IN (SELECT id::text FROM erased))
        OR (a.subject_type = 'employee' AND a.subject_id IN (SELECT id::text FROM staff))
    )
), names AS (
    SELECT unnest(ARRAY[name, email]) AS name FROM accounts
    UNION SELECT unnest(ARRAY[name, email]) FROM staff
    UNION SELECT unnest(ARRAY[before->>'name', before->>'email', after->>'name', after->>'email']) FROM noted
    UNION SELECT a.actor_name FROM audit_entries a JOIN erased ON erased.id = a.actor_id WHERE a.workspace = :workspace
)
SELECT name FROM names WHERE length(name) > 1 AND position(lower(name) IN lower(:said)) > 0 ORDER BY length(name) DESC
""")


async def differences_of(db: AsyncSession, acts: Sequence[Act], zone: PageZone) -> list[Differences]:
    """What each act changed, with people by name, and without the names of erased people."""
    known = await _people_in(db, acts)
    named = [(kind, _named(known, kind, before), _named(known, kind, after)) for kind, before, after in acts]
    names = await _names_in(db, (side for _, *sides in named for side in sides))
    return [differences(kind, _without(names, before), _without(names, after), zone) for kind, before, after in named]


async def _people_in(db: AsyncSession, acts: Sequence[Act]) -> Names:
    """(kind, id) → name of the people whose ids are in these values, also former ones. Without ids it sends no
    statement."""
    ids: dict[str, set[int]] = {"employee": set(), "user": set()}
    for kind, *sides in acts:
        for side in filter(None, sides):
            for name, value in side.items():
                if (whose := field_of(kind, name).id_of) and isinstance(value, int):
                    ids[whose].add(value)
    asked = [_ASKED[whose].where(among(_ASKED[whose].selected_columns.id, some)) for whose, some in ids.items() if some]
    rows = [row for one in asked for row in await db.execute(one)]
    known = {(row.kind, row.id): _called(row) for row in rows}
    if gone := sorted(one for one in ids["user"] if ("user", one) not in known):
        former = await db.execute(_FORMER, {"workspace": workspace_of(db), "ids": gone})
        known |= {("user", row.id): name for row in former if (name := _called(row))}
    return known


def _called(row: Any) -> str:
    return ERASED_PERSON if row.erased else row.name or ""


def _named(known: Names, kind: str, values: Values | None) -> Values | None:
    """The same values with names in place of ids. Where no name is known, it says so."""
    if values is None:
        return None
    return {name: _person(known, field_of(kind, name).id_of, value) for name, value in values.items()}


def _person(known: Names, whose: str, value: Any) -> Any:
    if not whose or not isinstance(value, int):
        return value
    return known.get((whose, value)) or subject_label(whose, str(value))


async def _names_in(db: AsyncSession, values: Iterable[Values | None]) -> Sequence[str]:
    """The names of erased people that occur in these values.
    It sends one statement, or none when there are no values."""
    said = "\n".join(one for side in values for one in _texts(side))
    if not said:
        return ()
    asked = {"workspace": workspace_of(db), "said": said}
    return (await db.scalars(_FIND, asked)).all()


def _without(names: Sequence[str], values: Values | None) -> dict[str, Any] | None:
    """The same values with `Erased person` in place of each name."""
    if values is None:
        return None
    if not names:
        return dict(values)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(one) for one in names)})(?!\w)", re.IGNORECASE)
    return {key: value if key in _NOT_NAMES else _hidden(pattern, value) for key, value in values.items()}


def _hidden(pattern: re.Pattern[str], value: Any) -> Any:
    if isinstance(value, str):
        return pattern.sub(ERASED_PERSON, value)
    if isinstance(value, list):
        return [_hidden(pattern, one) for one in value]
    if isinstance(value, dict):
        return {key: _hidden(pattern, one) for key, one in value.items()}
    return value


def _texts(value: Any) -> Iterable[str]:
    """Every text in it, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
