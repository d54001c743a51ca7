"""Bulk acts of lists: which rows are meant, and the confirmation that says the number before anything happens."""

from typing import Any

from sqlalchemy import Select

from app.web import lists
from app.web.context import Context
from app.web.list_spec import ListSpec

Carried = list[tuple[str, str]]


async def chosen_ids(ctx: Context, spec: ListSpec, base: Select[Any]) -> list[Any]:
    """The keys of the ticked rows, or of the whole filter. Raises Invalid when nothing is ticked."""
    which = await lists.selected(ctx, spec)
    return list(await ctx.db.scalars(base.with_only_columns(spec.key).where(which).order_by(spec.key)))


async def carried(ctx: Context, number: int) -> Carried:
    """What a confirmation carries along, so that its answer means the same rows and the number that was shown."""
    form = await ctx.form()
    which: Carried = [("all", "1")] if form.get("all") == "1" else [("id", str(one)) for one in form.getall("id", [])]
    return [("action", str(form.get("action", ""))), ("number", str(number)), *which]


async def confirmed(ctx: Context, number: int) -> bool:
    """Whether the person agreed to exactly this number: rows that came or went meanwhile are asked about again."""
    form = await ctx.form()
    return form.get("confirmed") == "1" and form.get("number") == str(number)
