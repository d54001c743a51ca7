"""Exports of a list: the filtered rows as CSV or JSON Lines, streamed from the database in constant memory, or as an
Excel file.

Exports have connections of their own, so that pages never wait for one. They are written ahead of their readers.
"""

import csv
import io
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from weakref import WeakSet

import msgspec
from litestar.response import Stream
from sqlalchemy import BigInteger, Select, func, literal, select
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession

from app.dates import PageZone
from app.db.replica import Readable
from app.errors import Busy, Invalid
from app.texts import guarded, instant
from app.web.context import Context
from app.web.excel.cells import MOST_ROWS, About, cell
from app.web.excel.workbooks import WorkbookInTheMaking
from app.web.list_page import TOO_LONG, ListQuery
from app.web.list_spec import CSV, Column, ListSpec
from app.web.lists import asked, condition, ordering, visible_columns
from app.web.transport.ahead import Ahead

# The response adds the charset of a text itself.
KINDS = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/x-ndjson",
}
BATCH = 100  # In rows; between two slices pages are served.
# In each web process: an export holds a file while somebody reads it.
MOST_OPEN = 20
RETRY_AFTER_S = 30
TOO_MANY = f"Too many exports are being made right now. Try again in {RETRY_AFTER_S} seconds."
# A limit that the planner does not know: it then looks for a way to the first rows too. Without one it sorted ten
# million punches, for a minute or two and on the disk, which an index has in order.
_ALL = select(literal(2**62, BigInteger)).scalar_subquery()
BYTE_ORDER_MARK = "\ufeff"
_open: WeakSet[Ahead] = WeakSet()
_JSON = msgspec.json.Encoder(decimal_format="number")


class TooManyRows(Invalid):
    """More rows than Excel holds. `changes` to the address lead to an export that works."""

    way = ("Export as CSV", CSV.query)

    def __init__(self) -> None:
        super().__init__(TOO_LONG)


def asked_for(context: Context) -> str | None:
    """The kind of export in the address, if any. Raises Invalid for an unknown one."""
    kind: str | None = context.request.query_params.get("export")
    if kind and kind not in KINDS:
        raise Invalid("Exports are csv, xlsx or jsonl.")
    return kind or None


@dataclass(frozen=True, slots=True)
class ExportSource:
    """The rows, where they are read, and what is written of them. `zone` is the zone of times in Excel."""

    database: Readable
    workspace: str
    spec: ListSpec
    statement: Select[Any]
    columns: Sequence[Column]
    zone: PageZone


async def export(context: Context, spec: ListSpec, base: Select[Any], kind: str) -> Stream:
    """Exports the whole filtered list in its order, with the columns that the person chose, in a transaction of its
    own; the request's transaction ends here. Raises Busy when too many exports run, and TooManyRows for Excel."""
    query = context.request.query_params
    wanted = asked(spec, query)
    statement = base.where(condition(spec, wanted)).order_by(*ordering(spec, wanted.sort)).limit(_ALL)
    columns = _columns(spec, visible_columns(context, spec))
    zone = await context.zone()
    source = ExportSource(context.parts.long_reads, context.workspace, spec, statement, columns, zone)
    rows = written(source, kind, marked=query.get("bom") == "1")
    today = spec.today or datetime.now(UTC).date()
    return Stream(
        rows if context.is_head else (await _begun(context, rows)).pieces(),
        media_type=KINDS[kind],
        headers={"Content-Disposition": f'attachment; filename="{file_name(spec, wanted, today)}.{kind}"'},
    )


def written(source: ExportSource, kind: str, *, marked: bool = False) -> AsyncGenerator[bytes]:
    """The file, piece by piece. `marked`: a CSV has a byte order mark, from which Excel knows that it is UTF-8. Raises
    Busy and TooManyRows before the first piece."""
    if kind == "xlsx":
        return _workbook(source)
    return _rows(source, _csv(source, marked=marked) if kind == "csv" else _json_lines(source))


def file_name(spec: ListSpec, wanted: ListQuery, today: date) -> str:
    """Made of the days that the rows are narrowed to, otherwise of `today`, the day of the export. Without the
    ending."""
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
    """Waits for one of the exports' own connections, and holds none of the pages' meanwhile."""
    # One that has ended stays here until Python looks for garbage, which may be long after.
    if sum(not rows.has_ended for rows in _open) >= MOST_OPEN:
        raise Busy(TOO_MANY, retry_after_s=RETRY_AFTER_S)
    await context.settle()
    rows = Ahead(source)
    _open.add(rows)
    try:
        await rows.begin()
    except PoolTimeoutError:
        raise Busy(TOO_MANY, retry_after_s=RETRY_AFTER_S) from None
    return rows


async def _rows(source: ExportSource, write: Callable[[Sequence[Any]], bytes]) -> AsyncGenerator[bytes]:
    async with source.database.transaction(source.workspace) as session:
        result = await session.stream(source.statement, execution_options={"yield_per": BATCH})
        yield write([])
        async for rows in result.partitions():
            yield write(rows)


async def _workbook(source: ExportSource) -> AsyncGenerator[bytes]:
    """The first piece is empty: the answer can begin as soon as it is certain that there will be a file."""
    values = [column.excel or column.value for column in source.columns]
    async with WorkbookInTheMaking() as book:
        async with source.database.transaction(source.workspace) as session:
            await _refuse_too_many(session, source)
            result = await session.stream(source.statement, execution_options={"yield_per": BATCH})
            await book.begin(_about(source))
            yield b""
            async for rows in result.partitions():
                read = _read(source, rows)
                await book.add([[cell(value(row), source.zone.info) for value in values] for row in read])
        async for piece in book.pieces():
            yield piece


async def _refuse_too_many(session: AsyncSession, source: ExportSource) -> None:
    some = source.statement.with_only_columns(source.spec.key).order_by(None).limit(MOST_ROWS + 1).subquery()
    if (await session.scalar(select(func.count()).select_from(some)) or 0) > MOST_ROWS:
        raise TooManyRows


def _about(source: ExportSource) -> About:
    now = f"{datetime.now(source.zone.info):%Y-%m-%d %H:%M}"
    lines = [("List", source.spec.label), ("Made", now), ("Times are in", source.zone.name)]
    return About(source.spec.label, [column.label for column in source.columns], lines)


def _read(source: ExportSource, rows: Sequence[Any]) -> Iterable[Any]:
    """What the columns take their values from."""
    return map(source.spec.cells, rows) if source.spec.cells else rows


def _csv(source: ExportSource, *, marked: bool = False) -> Callable[[Sequence[Any]], bytes]:
    values = [column.value for column in source.columns]

    def write(rows: Sequence[Any]) -> bytes:
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        if not rows and marked:
            buffer.write(BYTE_ORDER_MARK)
        if not rows:
            writer.writerow([guarded(column.label) for column in source.columns])
        # The usual ones first: a file has millions of them. None is an empty cell.
        writer.writerows(
            [one if (one := value(row)) is None or type(one) is int else _cell(one) for value in values]
            for row in _read(source, rows)
        )
        return buffer.getvalue().encode()

    return write


def _json_lines(source: ExportSource) -> Callable[[Sequence[Any]], bytes]:
    values = [(column.key, column.value) for column in source.columns]

    def write(rows: Sequence[Any]) -> bytes:
        return _JSON.encode_lines([{key: value(row) for key, value in values} for row in _read(source, rows)])

    return write


def _cell(value: Any) -> Any:
    if type(value) is str:
        return guarded(value)
    if isinstance(value, datetime):
        return instant(value) if value.tzinfo else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return guarded(", ".join(str(one) for one in value))
    if isinstance(value, str):
        return guarded(value)
    return value
