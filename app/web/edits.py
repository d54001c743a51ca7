"""Edit forms that are never overwritten silently: each carries the values it was made from, and a stale one is refused.

    hold the row, read what is stored              await hold(ctx.db, Employee.id == employee_id)
    GET   form = edits.opened(ctx, FORM, stored)
    POST  form = await edits.sent(ctx, FORM, stored, about=("employee", employee_id))
          if not form.ok: return await page(ctx, "….html", status=form.status, form=form)

A small form in a row of a list has `forms.base(sealed(remarks=row.remarks))`; `ask_again` shows it when it was refused.
The macro `summary` (templates/components/fields.html) draws the hidden field, and for a stale form what the others
changed with a choice for each field that both changed. What is merged and why: merging.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import Response
from litestar.datastructures import FormMultiDict

from app.accounts import audit
from app.web.context import Context
from app.web.fields import Field
from app.web.forms import Bound, Form
from app.web.marks import time_at
from app.web.merging import EditConflict, EditConflictWords, Shown, Stale, Values, differences, merged
from app.web.pages import page

BASE, TAKE = "base", "take-"
THEIRS = "theirs"
EMPTY = "empty"
_NOT_KEPT = ("password", "file")
_DIGEST = hashlib.sha256().digest_size


def opened(ctx: Context, form: Form, stored: Mapping[str, Any], facts: Mapping[str, str] | None = None) -> Bound:
    """The form as a page first shows it. `stored`: the values of its fields; `facts`: what else the form was made from,
    by label."""
    bound = form.fill(stored)
    bound.base = seal(ctx, _values(form, stored, facts))
    return bound


async def sent(
    ctx: Context,
    form: Form,
    stored: Mapping[str, Any],
    facts: Mapping[str, str] | None = None,
    *,
    about: tuple[object, ...],
) -> Bound:
    """What was posted, compared with what is stored now: hold the row before reading it. `about`: the audit's type and
    id of the thing, and the audit's names of fields if they differ.

    A form without a base comes only from a program, and is accepted as it is.
    """
    posted = await ctx.form()
    now, text = _values(form, stored, facts), posted.get(BASE)
    base = unseal(ctx, text) if isinstance(text, str) else now
    bound = form.read(_with_theirs(posted, base or {}))
    bound.base = seal(ctx, now)
    typed = _typed(bound)
    if found := differences(base, now, typed):
        await _refuse(ctx, bound, found, about)
        bound.shown |= merged(typed, found)
    return bound


async def unsaved(ctx: Context, form: Form) -> Bound:
    """What was posted, with its original base: for a button of the form that saves nothing."""
    posted = await ctx.form()
    text = str(posted.get(BASE, ""))
    bound = form.read(_with_theirs(posted, unseal(ctx, text) or {}))
    bound.base = text
    return bound


async def ask_again(ctx: Context, form: Bound, title: str, *, cancel_url: str) -> Response[str]:
    """Shows a refused form that has no page of its own, as a page or in the dialog."""
    return await page(
        ctx, "edit_again.html", fragment="dialog", status=form.status, form=form, title=title, cancel_url=cancel_url
    )


def sealed(ctx: Context, **values: str | None) -> str:
    """The base of a form with these values."""
    return seal(ctx, {name: value or "" for name, value in values.items()})


def seal(ctx: Context, values: Values) -> str:
    """For the hidden field. It is sealed, so the person can't change it."""
    packed = msgspec.json.encode(values)
    return base64.urlsafe_b64encode(_signature(ctx, packed) + packed).decode()


def unseal(ctx: Context, text: str) -> dict[str, Shown] | None:
    """None when it was not sealed for this person, such as after the keys were changed."""
    try:
        raw = base64.b64decode(text, "-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    signature, packed = raw[:_DIGEST], raw[_DIGEST:]
    if not hmac.compare_digest(signature, _signature(ctx, packed)):
        return None
    return msgspec.json.decode(packed, type=dict[str, Shown])


def _signature(ctx: Context, packed: bytes) -> bytes:
    return hmac.digest(ctx.parts.keys.derive("form-base"), b"%d:%b" % (ctx.user.id, packed), "sha256")


def _values(form: Form, stored: Mapping[str, Any], facts: Mapping[str, str] | None) -> dict[str, Shown]:
    kept = [one for one in form.fields.values() if one.name in stored and one.kind not in _NOT_KEPT]
    return {one.name: _plain(one.show(stored[one.name])) for one in kept} | dict(facts or {})


def _typed(bound: Bound) -> dict[str, Shown]:
    """Values as the fields would show them again; a value that can't be read stays as typed."""
    return {
        name: _plain(bound.shown[name] if name in bound.errors else item.show(bound.values[name]))
        for name, item in bound.fields.items()
        if item.kind not in _NOT_KEPT
    }


def _plain(shown: Any) -> Shown:
    return sorted(shown) if isinstance(shown, list) else shown


def _with_theirs(posted: FormMultiDict, base: Values) -> FormMultiDict:
    """The form with the other person's value in place of what was typed, if the person chose it."""
    taken = {name: value for name, value in base.items() if posted.get(TAKE + name) == THEIRS}
    kept = [pair for pair in posted.multi_items() if pair[0] not in taken]
    return FormMultiDict([*kept, *((name, one) for name, value in taken.items() for one in _as_posted(value))])


def _as_posted(value: Shown) -> list[str]:
    if isinstance(value, bool):
        return ["1"] if value else []
    return [value] if isinstance(value, str) else value


async def _refuse(ctx: Context, bound: Bound, found: list[EditConflict], about: tuple[object, ...]) -> None:
    kind, thing, *others = about
    names = [*(one.name.lower() for one in found), *others]
    last = await audit.last_change(ctx.db, str(kind), thing, [str(name) for name in names])
    by = "" if last is None else "you" if last.actor_id == ctx.user.id else last.actor
    bound.stale = Stale([_line(bound, one) for one in found], by, time_at(last.at, await ctx.zone()) if last else "")


def _line(bound: Bound, one: EditConflict) -> EditConflictWords:
    item = bound.fields.get(one.name)
    was = None if one.was is None else _said(item, one.was)
    return EditConflictWords(one.name, item.label if item else one.name, was, _said(item, one.now), one.contested)


def _said(item: Field | None, shown: Shown) -> str:
    """A value in words: with the labels of a choice, and a time without its T."""
    labels = getattr(item, "options", {})
    if isinstance(shown, bool):
        return "on" if shown else "off"
    if isinstance(shown, list):
        return ", ".join(labels.get(one, one) for one in shown) or EMPTY
    if item is not None and item.kind == "datetime":
        shown = shown.replace("T", " ")
    return labels.get(shown, shown) or EMPTY
