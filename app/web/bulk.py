"""Acts that ask first: one act's question as a dialog or a page of its own; and acts on many rows: which are meant, and how many."""

from typing import Any

from litestar import Response
from sqlalchemy import Select

from app.web import lists
from app.web.context import Context
from app.web.list_spec import ListSpec
from app.web.pages import page
from app.web.returning import with_its_query

Carried = list[tuple[str, str]]
# A longer name stands in the question alone.
SHORT = 40


async def ask_to(ctx: Context, verb: str, what: str, **values: Any) -> Response[str]:
    """Asks whether to do `verb` to `what`, as `ask_first` with all that it needs besides."""
    whole = f"{verb} {what}"
    return await ask_first(ctx, question=f"{whole}?", submit=whole if len(what) < SHORT else verb, **values)


async def ask_first(ctx: Context, **values: Any) -> Response[str]:
    """Renders dialogs.confirm. Needs question, consequence, submit, cancel_url; optional url, danger, number, unit, fields.

    Without `url` the answer is posted to where the question came from.
    """
    here = with_its_query(ctx.request.url.path, ctx.request.url.query)
    defaults = {"url": here, "danger": True, "number": None, "unit": "", "fields": []}
    return await page(ctx, "ask.html", fragment="dialog", **{**defaults, **values})


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
