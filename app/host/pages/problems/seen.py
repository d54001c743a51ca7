"""Which kinds of problems a person sees: those whose page they may open, in a module that is on."""

from typing import Any

from app.accounts.holders import who_have
from app.problems import acts
from app.problems.kinds import visible
from app.web.context import Context

SEE, ACT = acts.SEE, "host.problems.edit"


def kinds_seen(ctx: Context) -> tuple[str, ...]:
    """Names of kinds. A person who may not open /problems still meets some of them on other pages."""
    return visible(ctx.user.permissions, ctx.workspace, ctx.policies)


def open_problems(ctx: Context) -> int:
    """For the menu: how many open problems the list shows this person, without snoozed ones, as the request began."""
    counts = ctx.user.problem_counts
    return sum(counts.get(name, 0) for name in kinds_seen(ctx)) if counts else 0


async def people_offered(ctx: Context) -> list[dict[str, Any]]:
    """Options of a field: to whom a problem can be assigned."""
    return [{"value": one.id, "label": one.name} for one in await who_have(ctx.db, SEE)]
