"""What is asked about the records of a code whose link ends or changes. What became of them: long_acts.py."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from litestar import Response

from app.clock.bindings import actions as bindings
from app.clock.bindings import undoing
from app.clock.bindings.queries import Foretold
from app.clock.bindings.undoing import Undo, Undoable
from app.clock.review.long_act_words import told
from app.counting import count
from app.long_acts import progress as long_acts
from app.long_acts.acts import INLINE_LIMIT
from app.long_acts.words import LongActView, stay
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.pages import page
from app.web.returning import with_its_query

OFFERED: Mapping[str, tuple[str, ...]] = {"clear": ("take_back",), "bind": ("take_back", "move")}


async def ask(ctx: Context, act: str, ids: Collection[int], **values: Any) -> Response[Any]:
    """The question before `act`, as `web.bulk.ask_first`; clearing offers to take the records back."""
    undoable = await _of(ctx, act, ids)
    if not undoable:
        return await ask_first(ctx, **values)
    here = with_its_query(ctx.request.url.path, ctx.request.url.query)
    fields = [*values.pop("fields", []), ("foretold", signature(undoable))]
    values = {"url": here, **values, "fields": fields, **offer(undoable)}
    return await page(ctx, "clock/undo_ask.html", fragment="dialog", **values)


async def ask_unforetold(ctx: Context, **values: Any) -> Response[Any]:
    """The question before very many codes are cleared: their records are not counted first."""
    here = with_its_query(ctx.request.url.path, ctx.request.url.query)
    values = {"url": here, **offer(Undoable({}, is_known=False)), **values}
    return await page(ctx, "clock/undo_ask.html", fragment="dialog", **values)


async def _of(ctx: Context, act: str, ids: Collection[int]) -> Undoable:
    if act != "clear":
        return Undoable({})
    return await undoing.foretell(ctx.db, [one.emp_code for one in await bindings.open_to(ctx.db, act, ids)])


async def wanted(ctx: Context, act: str) -> Undo:
    """What the form says about the records; a form that says nothing leaves them."""
    word = str((await ctx.form()).get("records", ""))
    return cast("Undo", word) if word in OFFERED.get(act, ()) else "leave"


async def agreed(ctx: Context, act: str, ids: Collection[int]) -> bool:
    """True when the records stay as they are, or the person saw the current numbers."""
    return await wanted(ctx, act) == "leave" or await _saw(ctx, await _of(ctx, act, ids))


async def confirmed(ctx: Context, undoable: Undoable, *, inactive: bool) -> bool:
    """As `agreed`, for a binding: the person is always asked about it first. `inactive`: the question must have said
    so."""
    form = await ctx.form()
    if form.get("confirmed") != "1" or (inactive and form.get("inactive") != "1"):
        return False
    return await wanted(ctx, "bind") == "leave" or await _saw(ctx, undoable)


async def _saw(ctx: Context, undoable: Undoable) -> bool:
    return (await ctx.form()).get("foretold") == signature(undoable)


def signature(undoable: Undoable) -> str:
    """The numbers that a question showed, carried by its answer."""
    if not undoable.is_known:
        return "many"
    return ",".join(f"{word or 'free'}:{number}" for word, number in sorted(undoable.why.items(), key=str))


def offer(undoable: Undoable, host: str | None = None) -> dict[str, Any]:
    """What can be done with the records, as the radios `choices`, and why something can't be done. `host` is the
    employee to whom the code is bound next; without one no record is moved."""
    if not undoable:
        return {"choices": [], "cannot": ""}
    judged = f"judged again as {host}'s" if host else "“Not bound”"
    acts: dict[Undo, tuple[str, str, str]] = {
        "take_back": ("Take back {}", "taken back", f"They are deleted, and their punches are {judged}.")
    }
    if host:
        acts["move"] = (f"Move {{}} to {host}", "moved", "Their punches stay imported.")
    if not undoable.is_known:
        return {"choices": _choices_of_many(host, acts), "cannot": ""}
    able = {undo: words for undo, words in acts.items() if undoable.done_by(undo)}
    return {
        "choices": [
            {"value": "leave", "label": "Leave them as they are", "hint": _hint_of_leaving(host)},
            *(_choice(undoable, undo, label, does) for undo, (label, _, does) in able.items()),
        ],
        "cannot": " ".join(
            f"None can be {past}. {stay(undoable.left_by(undo), undoing.LEFT)}"
            for undo, (_, past, _) in acts.items()
            if undo not in able
        ),
    }


def _choices_of_many(host: str | None, acts: Mapping[Undo, tuple[str, str, str]]) -> list[dict[str, str]]:
    leave = {"value": "leave", "label": "Leave their records as they are", "hint": _hint_of_leaving(host)}
    stays = "Those that were decided, edited or shared, or lie on a locked day, stay."
    made = "the records that their punches made"
    return [
        leave,
        *(
            {"value": undo, "label": label.format(made), "hint": f"{does} {stays}"}
            for undo, (label, _, does) in acts.items()
        ),
    ]


def _choice(undoable: Undoable, undo: Undo, label: str, does: str) -> dict[str, str]:
    said = [does, stay(undoable.left_by(undo), undoing.LEFT), _how(undoable)]
    records = count(undoable.done_by(undo), "record", "records")
    return {"value": undo, "label": label.format(records), "hint": " ".join(filter(None, said))}


def _hint_of_leaving(host: str | None) -> str:
    return (
        "Their punches show “Arrived after import” until someone decides." if host else "Their punches stay imported."
    )


def _how(undoable: Undoable) -> str:
    return "A job does it, and the page shows its progress." if undoable.total > INLINE_LIMIT else ""


def shown(row: Any) -> str:
    """What a page said of the binding, carried by its forms."""
    return f"{row.state}:{row.host_employee_id or ''}"


async def ask_to_bind(
    ctx: Context, row: Any, host: Any, foretold: Foretold, undoable: Undoable, *, overtaken: bool, inactive: bool
) -> Response[Any]:
    """The question takes the place of the drawer's content, or is a page. `overtaken`: it says who bound the code
    meanwhile. `inactive`: it says what the punches would show, and offers to activate the employee."""
    instead, said = "", _sentences(host, foretold)
    if inactive:
        waiting = count(row.waiting, "punch that waits", "punches that wait")
        said = [
            f"{host.name} is inactive. Unless you activate them, {waiting} will show “Employee inactive”.",
            *_sentences(host, replace(foretold, waiting=0)),
        ]
    if overtaken:
        at = (await ctx.zone()).time(row.decided_at)
        instead, said = (
            f" instead of {row.host_name}",
            [f"{row.decided_by} bound it to {row.host_name} on {at}.", *said],
        )
    fields = [("host", f"#{host.id}"), ("foretold", signature(undoable)), ("shown", shown(row))]
    return await page(
        ctx,
        "clock/employee_rebind.html",
        fragment="drawer",
        person=row,
        question=f"Bind {row.emp_code} to {host.name}{instead}?",
        consequence=" ".join(said),
        url=f"/clock_employees/{row.id}/bind",
        fields=[*fields, *([("inactive", "1")] if inactive else [])],
        activates=host.name if inactive and ctx.may("host.people") else "",
        **offer(undoable, host.name),
        cancel_url=f"/clock_employees/{row.id}",
    )


def _sentences(host: Any, foretold: Foretold) -> list[str]:
    said = []
    if foretold.punches:
        said.append(
            f"{count(foretold.punches, 'punch is', 'punches are')} part of"
            f" {count(foretold.records, 'record', 'records')} of {foretold.owners}."
        )
    if foretold.waiting:
        said.append(f"{count(foretold.waiting, 'other punch is', 'other punches are')} judged as {host.name}'s.")
    if foretold.rivals:
        codes = ", ".join(foretold.rivals)
        said.append(
            f"{host.name} is auto-matched to {codes}. That match is not confirmed, so it will become a conflict. If"
            " both codes are theirs, accept it first."
        )
    if foretold.beside:
        said.append(f"{host.name} has {', '.join(foretold.beside)} already; punches of all codes are judged together.")
    return said


async def latest(ctx: Context, emp_code: str) -> LongActView | None:
    """The last act on the records of this code, for its drawer."""
    found = await long_acts.latest_of_code(ctx.db, emp_code)
    return told(found) if found else None
