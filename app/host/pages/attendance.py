"""`/attendance`: all records, one day, one person; and bulk acts over each.
One record: attendance_record; forms: attendance_forms."""

from datetime import date, timedelta
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.counting import count
from app.errors import Conflict, Invalid, NotFound
from app.host.attendance import queries as attendance_queries
from app.host.attendance import records as attendance
from app.host.pages import attendance_list as records
from app.host.pages.attendance_views import ACTS, LONG, View, everything, one_day, one_person
from app.host.pages.people import answer_options
from app.host.pages.picking import pick
from app.web import exports
from app.web.bulk import act_on_many, action_of, chosen_ids, seen_at
from app.web.context import Context
from app.web.guards import Requires
from app.web.long_acts.bulk import at_length
from app.web.pages import go, page


@get("/attendance", guards=[Requires("host.attendance")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _show(ctx, everything(), "host/attendance.html")


@get("/attendance/days", guards=[Requires("host.attendance")])
async def choose_day(ctx: NamedDependency[Context]) -> Response[Any]:
    """Goes to the day that the address names, else to today."""
    text = ctx.request.query_params.get("day", "")
    try:
        day = date.fromisoformat(text) if text else (await ctx.zone()).today
    except ValueError:
        raise Invalid("Give a day such as 2026-11-21.") from None
    return go(f"/attendance/days/{day}")


@get("/attendance/days/{day:date}", guards=[Requires("host.attendance")])
async def by_day(ctx: NamedDependency[Context], day: FromPath[date]) -> Response[Any]:
    days = {
        "day": day,
        "before": day - timedelta(days=1) if day > date.min else day,
        "after": day + timedelta(days=1) if day < date.max else day,
    }
    return await _show(ctx, one_day(day), "host/attendance_day.html", *attendance_queries.around_day(day), **days)


@get("/attendance/people", guards=[Requires("host.attendance")])
async def choose_person(ctx: NamedDependency[Context]) -> Response[Any]:
    """Goes to the person that the address names, else asks for one."""
    text = ctx.request.query_params.get("employee", "").strip()
    problem = None
    if text:
        try:
            return go(f"/attendance/people/{(await pick(ctx.db, text)).id}")
        except (NotFound, Conflict) as refused:
            problem = refused.message
    status = 422 if problem else 200
    return await page(ctx, "host/attendance_people.html", status=status, problem=problem, text=text)


@get("/attendance/people/options", guards=[Requires("host.attendance")])
async def options(ctx: NamedDependency[Context]) -> Response[str]:
    return await answer_options(ctx)


@get("/attendance/people/{employee_id:int}", guards=[Requires("host.attendance")])
async def by_person(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    theirs = attendance_queries.of_person(employee_id)
    return await _show(ctx, one_person(employee_id), "host/attendance_person.html", *theirs, employee_id=employee_id)


@post("/attendance/bulk", guards=[Requires("host.attendance.decide")], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _bulk(ctx, everything())


@post("/attendance/days/{day:date}/bulk", guards=[Requires("host.attendance.decide")], status_code=200)
async def bulk_of_day(ctx: NamedDependency[Context], day: FromPath[date]) -> Response[Any]:
    return await _bulk(ctx, one_day(day))


@post("/attendance/people/{employee_id:int}/bulk", guards=[Requires("host.attendance.decide")], status_code=200)
async def bulk_of_person(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    return await _bulk(ctx, one_person(employee_id))


async def _show(ctx: Context, view: View, template: str, *more: Any, **values: Any) -> Response[Any]:
    zone = await ctx.zone()
    spec = view.spec(ctx, zone.info)
    if kind := exports.asked_for(ctx):
        file = records.for_export(spec, records.hours_asked_for(ctx))
        return await exports.export(ctx, file, records.base(view.scope), kind)
    listing, found = await records.load(ctx, spec, view.scope, *more)
    if "employee_id" in values and found.person_name is None:
        raise NotFound
    return await page(
        ctx,
        template,
        fragment="list",
        view=listing,
        found=found,
        bars=records.bars(list(listing.rows), zone.info),
        worked=records.worked,
        today=zone.today,
        **values,
    )


def _left(changed: int) -> str:
    """A sentence on records that changed after the question was shown, "" when there are none."""
    was = "and was left as it is" if changed == 1 else "and were left as they are"
    return f" {count(changed, 'record', 'records')} changed meanwhile {was}." if changed else ""


async def _bulk(ctx: Context, view: View) -> Response[Any]:
    action = await action_of(ctx, ACTS)
    act = ACTS[action]

    async def ask_of_many(which: str) -> dict[str, Any]:
        what = act.label.format(which)
        consequence = f"{act.consequence} Records on locked days stay as they are."
        return {"question": f"{what}?", "submit": what, "consequence": consequence, "danger": action == "delete"}

    if answer := await at_length(ctx, LONG[action], view.url, ask_of_many):
        return answer
    spec = view.spec(ctx, (await ctx.zone()).info)
    reachable = records.base(view.scope)
    ids = await chosen_ids(ctx, spec, reachable)
    able = await attendance_queries.changeable(ctx.db, ids, None if action == "delete" else action)

    async def ask() -> dict[str, Any]:
        others = len(ids) - len(able)
        stay = f"{count(others, 'selected record stays as it is: it is', 'selected records stay as they are: each is')} {act.stands}."
        what = act.label.format(count(len(able), "record", "records"))
        consequence = act.consequence + (f" {stay}" if others else "")
        return {"question": f"{what}?", "submit": what, "consequence": consequence, "danger": action == "delete"}

    async def act_on_them() -> str:
        seen = await seen_at(ctx)
        done_to = await (
            attendance.remove(ctx.db, ctx.actor, able, seen=seen)
            if action == "delete"
            else attendance.decide(ctx.db, ctx.actor, able, action, seen=seen)
        )
        told = f"{count(len(done_to), 'record was', 'records were')} {act.past}."
        return told + _left(len(able) - len(done_to))

    none = Conflict(f"None of these records can be {act.past}: each is {act.stands}.")
    return await act_on_many(ctx, len(able), url=view.url, none=none, ask=ask, do=act_on_them)


ROUTES = [
    index,
    choose_day,
    by_day,
    choose_person,
    options,
    by_person,
    bulk,
    bulk_of_day,
    bulk_of_person,
]
