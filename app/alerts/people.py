"""Who may be told of problems in a workspace, of which kinds, and by which rules.
Asked again for each mail when its turn comes."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import policies
from app.accounts.models import Role, Tenant, User, UserRole
from app.alerts.choosing import first_administrator, rules_of
from app.alerts.rules import FIRST_ADMINISTRATOR, SILENT, AlertRules
from app.alerts.setting import AlertSetting
from app.db.session import PLATFORM, workspace_of
from app.mail.unsubscribing import ALERTS, DIGEST, refusing
from app.problems.kinds import visible

SEES = "host.problems"


@dataclass(frozen=True, slots=True)
class AlertReader:
    """A person who may see problems. `kinds` are those whose pages they may open. `chose` is false while the default
    rules hold, until the person chooses."""

    user_id: int
    name: str
    email: str
    kinds: frozenset[str]
    rules: AlertRules
    chose: bool

    def wants(self, kind: str, severity: str) -> bool:
        """True for a kind that they may see and want to be told of."""
        return kind in self.kinds and self.rules.pace_of(kind, severity) != "never"


async def readers(db: AsyncSession) -> Mapping[int, AlertReader]:
    """Everybody in the workspace who may be told of anything, by account."""
    return await _read(db)


async def reader(db: AsyncSession, user_id: int | None) -> AlertReader | None:
    """None for a person who may not be told now."""
    return (await _read(db, User.id == user_id)).get(user_id) if user_id is not None else None


async def _read(db: AsyncSession, *which: ColumnElement[bool]) -> dict[int, AlertReader]:
    workspace = workspace_of(db)
    switches = await policies.read(db, workspace)
    of_person = select(UserRole.user_id).join(Role, Role.id == UserRole.role_id)
    permissions = (
        select(func.string_agg(func.array_to_string(Role.permissions, " "), " "))
        .join(UserRole, UserRole.role_id == Role.id)
        .where(UserRole.user_id == User.id)
        .scalar_subquery()
    )
    there = (User.workspace == PLATFORM) | select(Tenant.active).where(Tenant.key == workspace).scalar_subquery()
    rows = await db.execute(
        select(
            User.id,
            User.name,
            User.email,
            permissions.label("permissions"),
            (User.id == first_administrator(workspace).scalar_subquery()).label("is_first"),
            refusing(User.id, ALERTS).label("no_alerts"),
            refusing(User.id, DIGEST).label("no_digest"),
            AlertSetting,
        )
        .outerjoin(AlertSetting, AlertSetting.user_id == User.id)
        .where(
            User.workspace == workspace,
            User.active,
            there,
            User.id.in_(of_person.where(Role.workspace == workspace, Role.permissions.contains([SEES]))),
            *which,
        )
    )
    found = (
        AlertReader(
            row.id,
            row.name,
            row.email,
            frozenset(visible(frozenset(row.permissions.split()), workspace, switches)),
            _rules(row.AlertSetting, is_first=bool(row.is_first), no_alerts=row.no_alerts, no_digest=row.no_digest),
            row.AlertSetting is not None,
        )
        for row in rows
    )
    return {one.user_id: one for one in found}


def _rules(setting: AlertSetting | None, *, is_first: bool, no_alerts: bool, no_digest: bool) -> AlertRules:
    rules = rules_of(setting) if setting else FIRST_ADMINISTRATOR if is_first else SILENT
    rules = rules.without("at_once") if no_alerts else rules
    return rules.without("digest") if no_digest else rules
