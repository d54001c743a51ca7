"""The question before a dangerous act of the administration: one template, as a dialog or as a page of its own."""

from typing import Any

from litestar import Response

from app.web.context import Context
from app.web.pages import page


async def ask(ctx: Context, **values: Any) -> Response[str]:
    """Renders dialogs.confirm. Needs question, consequence, submit, cancel_url; optional url, danger, number, unit, fields.

    The question is posted to where it was asked.
    """
    defaults = {"url": ctx.request.url.path, "danger": True, "number": None, "unit": "", "fields": []}
    return await page(ctx, "host/admin/ask.html", fragment="dialog", **{**defaults, **values})
