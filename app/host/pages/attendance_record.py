"""`/attendance/ID`: one record with its history; decide it or delete it."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Row

from app.errors import Conflict, NotFound
from app.host.attendance import queries as attendance_queries
from app.host.attendance import records as attendance
from app.host.attendance.hours import STATUSES, Hours
from app.host.attendance.queries import LIVE, RECORDS
from app.host.models import AttendanceRecord
from app.host.pages.admin.history import history
from app.host.pages.attendance_list import STATUSES as LABELS
from app.host.pages.attendance_list import bars, worked
from app.host.pages.attendance_views import ACTS
from app.texts import instant
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import DIALOG, done, leaving_dialog, page

CHANGED = "This record changed since you opened it. Nothing was done. Reload the page, look at it, then decide."


@get("/attendance/{record_id:int}", guards=[Requires("host.attendance")])
async def show(ctx: NamedDependency[Context], record_id: FromPath[int]) -> Response[Any]:
    return await _show(ctx, record_id)


@post("/attendance/{record_id:int}/decide", guards=[Requires("host.attendance.decide")], status_code=200)
async def decide(ctx: NamedDependency[Context], record_id: FromPath[int]) -> Response[Any]:
    status = str((await ctx.form()).get("status", ""))
    if status not in STATUSES:
        raise NotFound
    await _refuse_changed(ctx, record_id, status)
    changed = await attendance.decide(ctx.db, ctx.actor, [record_id], status)
    if ctx.wants_fragment and ctx.target != DIALOG:
        return await _show(ctx, record_id, headers={"HX-Trigger": "muster:changed"})
    said = f"Record {record_id} was {ACTS[status].past}{'' if changed else ' already'}."
    answer = await done(ctx, f"/attendance/{record_id}", said, level="success" if changed else "info")
    return leaving_dialog(ctx, answer)


@get("/attendance/{record_id:int}/set_back", guards=[Requires("host.attendance.decide")])
async def ask_set_back(ctx: NamedDependency[Context], record_id: FromPath[int]) -> Response[Any]:
    """The question alone, for a link from another page."""
    record = await record_of(ctx, record_id)
    what = f"{record.name}, {(await ctx.zone()).span(record.clock_in, record.clock_out)}."
    return await ask_first(
        ctx,
        question=f"Set record {record_id} back to pending?",
        submit="Set back to pending",
        consequence=f"{what} It waits for a decision again. Punches that say “Record already decided” are judged again.",
        danger=False,
        url=f"/attendance/{record_id}/decide",
        fields=[("status", "pending"), ("seen", instant(record.updated_at))],
        cancel_url=f"/attendance/{record_id}",
        hx_target=f"#{DIALOG}" if ctx.target == DIALOG else None,
    )


@get("/attendance/{record_id:int}/delete", guards=[Requires("host.attendance.decide")])
async def ask_delete(ctx: NamedDependency[Context], record_id: FromPath[int]) -> Response[Any]:
    record = await record_of(ctx, record_id)
    what = f"{record.name}, {(await ctx.zone()).span(record.clock_in, record.clock_out)}."
    punches = (
        "The punches behind it say “Attendance deleted” and are imported again only by Retry."
        if record.source == "clock"
        else "It was made by hand and is gone for good."
    )
    return await ask_first(
        ctx,
        question=f"Delete record {record_id}?",
        submit="Delete the record",
        consequence=f"{what} Its hours no longer count. {punches}",
        danger=True,
        url=f"/attendance/{record_id}/delete",
        fields=[("seen", instant(record.updated_at))],
        cancel_url=f"/attendance/{record_id}",
    )


@post("/attendance/{record_id:int}/delete", guards=[Requires("host.attendance.decide")], status_code=200)
async def delete(ctx: NamedDependency[Context], record_id: FromPath[int]) -> Response[Any]:
    record = await record_of(ctx, record_id)
    await _refuse_changed(ctx, record_id)
    await attendance.remove(ctx.db, ctx.actor, [record_id])
    answer = f"Record {record_id} of {record.name} was deleted."
    return await done(ctx, f"/attendance/days/{record.workday}", answer, gone=f"/attendance/{record_id}")


async def _refuse_changed(ctx: Context, record_id: int, status: str = "") -> None:
    """Raises Conflict for a record that changed since the page showed it. One that has the `status` already stays as it
    is, so it is not refused. A program saw no page and sends no `seen`."""
    seen = (await ctx.form()).get("seen")
    if seen is None:
        return
    await attendance.hold_record(ctx.db, record_id)
    record = await record_of(ctx, record_id)
    if record.status != status and instant(record.updated_at) != seen:
        raise Conflict(CHANGED)


async def _show(ctx: Context, record_id: int, *, headers: dict[str, str] | None = None) -> Response[Any]:
    record = await record_of(ctx, record_id)
    zone = await ctx.zone()
    # A record made by hand has no other source.
    offered = await attendance_queries.links_of(ctx.db, record_id) if record.source == "clock" else []
    links = [link for link in offered if ctx.may(link.permission)]
    return await page(
        ctx,
        "host/attendance_show.html",
        fragment="drawer",
        headers=headers,
        record=record,
        seen=instant(record.updated_at),
        span=zone.span(record.clock_in, record.clock_out),
        worked=worked,
        bar=bars([record], zone.info)[record_id],
        hours=Hours.of(record),
        found=Hours.heard(record.edited_from) if record.edited_from else None,
        history=await history(ctx, "attendance", record_id),
        links=links,
        labels=LABELS,
    )


async def record_of(ctx: Context, record_id: int) -> Row[Any]:
    """One live record with its person. Raises NotFound."""
    row: Row[Any] | None = (await ctx.db.execute(RECORDS.where(AttendanceRecord.id == record_id, LIVE))).one_or_none()
    if row is None:
        raise NotFound("There is no such record, or it was deleted.")
    return row


ROUTES = [show, decide, ask_set_back, ask_delete, delete]
