"""Acts that ask first: the question as a dialog or as a page; and acts on many rows: which rows are meant, and how
many.

The guard of the route checks who may act. When a job carries an act out, `LongBulk.opened` of web/long_acts/bulk.py
checks it again.
"""

import hashlib
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from litestar import Response
from sqlalchemy import Select, func, select

from app.errors import Invalid, NotFound, Refusal
from app.texts import instant
from app.web import lists
from app.web.context import Context
from app.web.list_spec import ListSpec
from app.web.pages import done, page
from app.web.returning import with_its_query

Carried = list[tuple[str, str]]
Ask = Callable[[], Awaitable[dict[str, Any]]]
Do = Callable[[], Awaitable[str | Response[Any]]]
# A longer name appears only in the question.
SHORT = 40


async def ask_to(ctx: Context, verb: str, what: str, **values: Any) -> Response[str]:
    """Asks if the person wants to do `verb` to `what`; builds the rest of what `ask_first` needs."""
    whole = f"{verb} {what}"
    return await ask_first(ctx, question=f"{whole}?", submit=whole if len(what) < SHORT else verb, **values)


async def ask_first(ctx: Context, **values: Any) -> Response[str]:
    """Renders dialogs.confirm. Needs question, consequence, submit, cancel_url;
    optional url, danger, number, unit, fields, and
    `note`: what stands in a field for a note, which `why` makes a must; and `pick`, the name, label
    and options of a choice; `hx_target` as of dialogs.confirm, for what is answered by pages.leaving_dialog.

    Without `url` the answer is posted to where the question came from.
    """
    here = with_its_query(ctx.request.url.path, ctx.request.url.query)
    defaults = {"url": here, "danger": True, "number": None, "unit": "", "fields": []}
    fields = {"note": None, "why": False, "pick": None, "hx_target": None}
    return await page(ctx, "ask.html", fragment="dialog", **{**defaults, **fields, **values})


async def chosen_ids(ctx: Context, spec: ListSpec, base: Select[Any]) -> list[Any]:
    """The keys of the ticked rows, or those of the whole filter. Raises Invalid when nothing is ticked."""
    which = await lists.selected(ctx, spec)
    return list(await ctx.db.scalars(base.with_only_columns(spec.key).where(which).order_by(spec.key)))


async def action_of(ctx: Context, known: Container[str]) -> str:
    """Which act was posted. Raises NotFound for one that the page does not offer."""
    action = str((await ctx.form()).get("action", ""))
    if action not in known:
        raise NotFound
    return action


async def act_on_many(
    ctx: Context, number: int, *, url: str, none: Refusal, ask: Ask, do: Do, also: Sequence[tuple[str, str]] = ()
) -> Response[Any]:
    """A whole bulk act: asks first, then acts, then leads back to the list at `url`.

    `number`: how many rows the act changes; when it is 0, `none` is raised. `ask` gives the values of `ask_to` or of
    `ask_first`. `also`: names and values of what else the question says, which must still hold when the answer comes.
    `do` returns the sentence that says what was done, or an answer of its own.
    """
    if not number:
        raise none
    form = await ctx.form()
    agreed = form.get("confirmed") == "1" and form.get("number") == str(number)
    if agreed and all(form.get(name) == value for name, value in also):
        told = await do()
        return await done(ctx, url, told) if isinstance(told, str) else told
    asks = ask_to if "verb" in (values := await ask()) else ask_first
    return await asks(ctx, fields=[*await carried(ctx, number), *also], cancel_url=url, **values)


def mark_of(shown: Iterable[tuple[object, object]]) -> str:
    """A short mark of what a question is about: rows, each with what the page says of it. Of the same rows that say the
    same it is the same."""
    lines = "\n".join(sorted(f"{row}:{said}" for row, said in shown))
    return hashlib.sha256(lines.encode()).hexdigest()[:32]


async def carried(ctx: Context, number: int) -> Carried:
    """What a confirmation carries, so that its answer means the same rows and the number that the person saw, and when
    they saw them."""
    form = await ctx.form()
    which: Carried = [("all", "1")] if form.get("all") == "1" else [("id", str(one)) for one in form.getall("id", [])]
    now = instant(await ctx.db.scalar(select(func.now()))) or ""
    return [("action", str(form.get("action", ""))), ("number", str(number)), ("seen", now), *which]


async def seen_at(ctx: Context) -> datetime | None:
    """When the question was shown that this answers: what changed since, the person has not seen. None for a program,
    which saw no question. Raises Invalid."""
    text = (await ctx.form()).get("seen")
    if text is None:
        return None
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Invalid("When the question was shown can’t be read. Reload the list, then begin again.") from None


async def confirmed(ctx: Context, number: int) -> bool:
    """True when the person agreed to exactly this number. If rows came or went meanwhile, the question is asked
    again."""
    form = await ctx.form()
    return form.get("confirmed") == "1" and form.get("number") == str(number)
