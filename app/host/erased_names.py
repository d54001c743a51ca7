"""Takes the names of erased people out of the values before and after an act, as the audit shows them. The stored values stay."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit_words import differences
from app.accounts.erased import ERASED_PERSON
from app.dates import PageZone
from app.db.session import workspace_of

Values = Mapping[str, Any]
Differences = list[tuple[str, str | None, str | None]]
# Fields that hold words of Muster itself, such as the role Administrator: a person may be called so.
_NOT_NAMES = frozenset({"roles", "permissions", "scopes", "type", "kind", "status", "state", "outcome", "method"})
# Every name and e-mail address that an erased person has or had here, as far as it occurs in a text. People of all workspaces:
# the platform makes administrators of tenants, and its operators act in both.
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


async def differences_of(
    db: AsyncSession, acts: Sequence[tuple[Values | None, Values | None]], zone: PageZone
) -> list[Differences]:
    """What each act changed, from its values before and after, without the names of erased people."""
    names = await _names_in(db, (side for act in acts for side in act))
    return [differences(_without(names, before), _without(names, after), zone) for before, after in acts]


async def _names_in(db: AsyncSession, values: Iterable[Values | None]) -> Sequence[str]:
    """The names of erased people that occur in these values, by one statement; none without one where nothing is said."""
    said = "\n".join(one for side in values for one in _texts(side))
    if not said:
        return ()
    asked = {"workspace": workspace_of(db), "said": said}
    return (await db.scalars(_FIND, asked)).all()


def _without(names: Sequence[str], values: Values | None) -> dict[str, Any] | None:
    """The same values with `Erased person` in the place of each name."""
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
