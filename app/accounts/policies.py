"""The switches of a workspace and their defaults. A switch that is not stored has its default."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Boolean, ColumnElement, SQLColumnExpression, cast, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import schedule_looks
from app.accounts.models import Policy
from app.registry import modules

POLICIES = tuple(policy for module in modules() for policy in module.policies)
DEFAULTS: dict[str, bool | int] = {one.name: one.default for one in POLICIES}


def enabled(stored: Mapping[str, Any], name: str) -> bool:
    """True when a switch is on. Raises KeyError for a name that is not a policy."""
    return bool(stored.get(name, DEFAULTS[name]))


def is_on(workspace: SQLColumnExpression[str], name: str) -> ColumnElement[bool]:
    """The same as a part of a statement, for the workspace of each row."""
    stored = select(cast(Policy.value, Boolean)).where(Policy.workspace == workspace, Policy.name == name)
    return func.coalesce(stored.correlate_except(Policy).scalar_subquery(), DEFAULTS[name])


async def read(db: AsyncSession, workspace: str) -> dict[str, Any]:
    """All policies of a workspace with their values in force."""
    rows = await db.execute(select(Policy.name, Policy.value).where(Policy.workspace == workspace))
    return {**DEFAULTS, **{name: value for name, value in rows if name in DEFAULTS}}


async def write(db: AsyncSession, workspace: str, values: Mapping[str, bool | int]) -> None:
    schedule_looks.look_soon(db, workspace)
    for name, value in values.items():
        statement = insert(Policy).values(workspace=workspace, name=name, value=value)
        await db.execute(
            statement.on_conflict_do_update(
                index_elements=[Policy.workspace, Policy.name], set_={"value": statement.excluded.value}
            )
        )
