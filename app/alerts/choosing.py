"""Reads and saves what a person chose, and says what holds for people who have not chosen yet."""

from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Role, User, UserRole
from app.alerts.rules import (
    FIRST_ADMINISTRATOR,
    SEVERITIES,
    SILENT,
    AlertRules,
    Digest,
    Pace,
    QuietHours,
    Rhythm,
    SeverityRule,
)
from app.alerts.setting import AlertSetting
from app.errors import Invalid
from app.registry import ADMINISTRATOR
from app.wording.zone_names import all_zones


async def chosen_by(db: AsyncSession, user_id: int) -> AlertRules | None:
    """None while the person has not chosen."""
    row = await db.get(AlertSetting, user_id)
    return rules_of(row) if row else None


async def default_for(db: AsyncSession, workspace: str, user_id: int) -> AlertRules:
    """What holds until the person chooses."""
    first: int | None = await db.scalar(first_administrator(workspace))
    return FIRST_ADMINISTRATOR if first == user_id else SILENT


def first_administrator(workspace: str) -> Select[int]:
    """The oldest active account with the built-in role Administrator."""
    is_administrator = (Role.workspace == workspace, Role.builtin, Role.name == ADMINISTRATOR)
    return (
        select(func.min(User.id))
        .join(UserRole, UserRole.user_id == User.id)
        .join(Role, Role.id == UserRole.role_id)
        .where(*is_administrator, User.workspace == workspace, User.active)
    )


async def choose(db: AsyncSession, user_id: int, rules: AlertRules) -> None:
    """Raises Invalid."""
    _check(rules)
    values = _values(rules) | {"changed_at": datetime.now(UTC)}
    row = insert(AlertSetting).values(user_id=user_id, **values)
    await db.execute(row.on_conflict_do_update(index_elements=[AlertSetting.user_id], set_=values))


def _check(rules: AlertRules) -> None:
    if rules.zone not in all_zones():
        raise Invalid.at("zone", "There is no such time zone. Choose one of the list.")
    if rules.quiet and rules.quiet.starts == rules.quiet.ends:
        raise Invalid.at("quiet_to", "The quiet hours end when they begin. Choose another time, or leave both empty.")


def _values(rules: AlertRules) -> dict[str, Any]:
    quiet, digest = rules.quiet, rules.digest
    severities = {name: getattr(rules, name) for name in SEVERITIES}
    return {
        **{name: rule.pace for name, rule in severities.items()},
        **{f"{name}_after": rule.after for name, rule in severities.items()},
        "kinds": dict(rules.kinds),
        "digest": digest.rhythm,
        "digest_weekday": digest.weekday,
        "digest_hour": digest.hour,
        "quiet_from": quiet.starts if quiet else None,
        "quiet_to": quiet.ends if quiet else None,
        "quiet_but_critical": quiet.but_critical if quiet else True,
        "zone": rules.zone,
    }


def rules_of(row: AlertSetting) -> AlertRules:
    critical, warning, info = (SeverityRule(getattr(row, name), getattr(row, f"{name}_after")) for name in SEVERITIES)
    return AlertRules(
        critical,
        warning,
        info,
        kinds=cast("dict[str, Pace]", row.kinds),
        digest=Digest(cast("Rhythm", row.digest), row.digest_weekday, row.digest_hour),
        quiet=_quiet_of(row),
        zone=row.zone,
    )


def _quiet_of(row: AlertSetting) -> QuietHours | None:
    if row.quiet_from is None or row.quiet_to is None:
        return None
    return QuietHours(row.quiet_from, row.quiet_to, row.quiet_but_critical)
