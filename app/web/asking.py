"""The question before an act that changes much: one template, as a dialog or as a page of its own (screens: dangerous acts)."""

from typing import Any

from litestar import Response

from app.web.context import Context
from app.web.pages import page
from app.web.returning import with_its_query

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
