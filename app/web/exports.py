"""Exports of a list: the filtered rows as CSV or JSON Lines, streamed from the database in constant memory, or as an Excel file.

They have connections of their own, so that pages never wait for one, and are written ahead of their readers.
"""

import csv
import io
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any
from weakref import WeakSet

import msgspec
from litestar.response import Stream
from sqlalchemy import Select, func, select
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.dates import PageZone
from app.errors import Busy, Invalid
from app.texts import guarded
from app.web.context import Context
from app.web.excel.cells import MOST_ROWS, About, cell
from app.web.excel.workbooks import WorkbookInTheMaking
from app.web.list_spec import CSV, Column, ListSpec
from app.web.lists import TOO_LONG, ListQuery, asked, condition, ordering, visible_columns
from app.web.templating import with_query
from app.web.transport.ahead import Ahead

# The response names the charset of a text itself.
KINDS = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/x-ndjson",
}
BATCH = 100  # rows; pages are served between two of them
# Of one process: those that somebody still reads hold a file each.
MOST_OPEN = 20
RETRY_AFTER_S = 30
TOO_MANY = f"Too many exports are being made right now. Try again in {RETRY_AFTER_S} seconds."
BYTE_ORDER_MARK = "\ufeff"
_open: WeakSet[Ahead] = WeakSet()
_JSON = msgspec.json.Encoder(decimal_format="number")


class TooManyRows(Invalid):
    """`way`: a label and an address that do better."""

    def __init__(self, url: str) -> None:
        super().__init__(TOO_LONG)
        self.way = ("Export as CSV", url)


def asked_for(context: Context) -> str | None:
    """The kind of export that the address asks for, if any. Raises Invalid for an unknown one."""
    kind: str | None = context.request.query_params.get("export")
    if kind and kind not in KINDS:
        raise Invalid("Exports are csv, xlsx or jsonl.")
    return kind or None


async def export(context: Context, spec: ListSpec, base: Select[Any], kind: str) -> Stream:
    """The whole filtered list in its order, with the columns that the person chose, in a transaction of its own; the request's
    ends here. Raises Busy when there are too many, and TooManyRows for Excel."""
    wanted = asked(spec, context.request.query_params)
    zone = await context.zone()
    statement = base.where(condition(spec, wanted)).order_by(*ordering(spec, wanted.sort))
    columns = _columns(spec, visible_columns(context, spec))
    today = spec.today or datetime.now(UTC).date()
    if kind == "xlsx":
        rows = _workbook(context, spec, statement, columns, zone)
    elif kind == "csv":
        rows = _rows(context, statement, _csv(columns, marked=context.request.query_params.get("bom") == "1"))
    else:
        rows = _rows(context, statement, _json_lines(columns))
    return Stream(
        rows if context.is_head else (await _begun(context, rows)).pieces(),
        media_type=KINDS[kind],
        headers={"Content-Disposition": f'attachment; filename="{file_name(spec, wanted, today)}.{kind}"'},
    )


def file_name(spec: ListSpec, wanted: ListQuery, today: date) -> str:
    """After the days that the rows are narrowed to, else after `today`, the day of the export. Without the ending."""
    first, last = spec.days or _narrowed(spec, wanted) or (None, None)
    if first and last:
        return f"{spec.name}-{first}-to-{last}"
    if first or last:
        return f"{spec.name}-from-{first}" if first else f"{spec.name}-until-{last}"
    return f"{spec.name}-{today}"


def _narrowed(spec: ListSpec, wanted: ListQuery) -> tuple[date | None, date | None] | None:
    ranges = (wanted.values.get(item.name) for item in spec.filters if item.kind == "range")
    return next((days for days in ranges if days), None)


def _columns(spec: ListSpec, visible: Sequence[str]) -> list[Column]:
    chosen = [column for column in spec.columns if column.key in visible and column.label]
    return chosen + [column for column in spec.columns if column.always and column not in chosen]


async def _begun(context: Context, source: AsyncIterator[bytes]) -> Ahead:
    """Waits in line for a connection, and holds none of the pages' meanwhile."""
    if len(_open) >= MOST_OPEN:
        raise Busy(TOO_MANY, retry_after_s=RETRY_AFTER_S)
    await context.settle()
    rows = Ahead(source)
    _open.add(rows)
    try:
        await rows.begin()
    except PoolTimeoutError:
        raise Busy(TOO_MANY, retry_after_s=RETRY_AFTER_S) from None
    return rows


async def _rows(
    context: Context, statement: Select[Any], write: Callable[[Sequence[Any]], bytes]
) -> AsyncIterator[bytes]:
    async with context.parts.exports.transaction(context.workspace) as session:
        result = await session.stream(statement, execution_options={"yield_per": BATCH})
        yield write([])
        async for rows in result.partitions():
            yield write(rows)


async def _workbook(
    context: Context, spec: ListSpec, statement: Select[Any], columns: Sequence[Column], zone: PageZone
) -> AsyncIterator[bytes]:
    """The first piece is empty: the answer begins as soon as it is known that there will be one. Raises Busy and TooManyRows."""
    async with WorkbookInTheMaking() as book:
        async with context.parts.exports.transaction(context.workspace) as session:
            counted = statement.with_only_columns(spec.key).order_by(None).limit(MOST_ROWS + 1).subquery()
            if (await session.scalar(select(func.count()).select_from(counted)) or 0) > MOST_ROWS:
                raise TooManyRows(_as_csv(context))
            result = await session.stream(statement, execution_options={"yield_per": BATCH})
            await book.begin(_about(spec, columns, zone))
            yield b""
            values = [column.excel or column.value for column in columns]
            async for rows in result.partitions():
                await book.add([[cell(value(row), zone.info) for value in values] for row in rows])
        async for piece in book.pieces():
            yield piece


def _about(spec: ListSpec, columns: Sequence[Column], zone: PageZone) -> About:
    now = f"{datetime.now(zone.info):%Y-%m-%d %H:%M}"
    lines = [("List", spec.label), ("Made", now), ("Times are in", zone.name)]
    return About(spec.label, [column.label for column in columns], lines)


def _as_csv(context: Context) -> str:
    query = context.request.query_params
    return with_query(context.request.url.path, {name: query.getall(name) for name in query}, **CSV.query)


def _csv(columns: Sequence[Column], *, marked: bool = False) -> Callable[[Sequence[Any]], bytes]:
    """`marked`: with a byte order mark, by which Excel knows that it is UTF-8."""

    def write(rows: Sequence[Any]) -> bytes:
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        if not rows and marked:
            buffer.write(BYTE_ORDER_MARK)
        if not rows:
            writer.writerow([column.label for column in columns])
        writer.writerows([_cell(column.value(row)) for column in columns] for row in rows)
        return buffer.getvalue().encode()

    return write


def _json_lines(columns: Sequence[Column]) -> Callable[[Sequence[Any]], bytes]:
    def write(rows: Sequence[Any]) -> bytes:
        lines = (_JSON.encode({column.key: column.value(row) for column in columns}) for row in rows)
        return b"".join(line + b"\n" for line in lines)

    return write


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if value.tzinfo else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return guarded(", ".join(str(one) for one in value))
    if isinstance(value, str):
        return guarded(value)
    return "" if value is None else value
