"""Every list's Excel file, read again and compared with its CSV, cell by cell."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import openpyxl
import pytest
from sqlalchemy import update

from app.host.models import Employee
from app.parts import Parts
from app.texts import unguarded
from app.web import exports, list_page
from tests.conftest import Browser
from tests.one_of_each import one_of_each
from tests.test_lists_agree import LISTS

VIEWS = (*LISTS, "/clock_analytics", "/attendance?hours=h:mm", "/attendance/days/2026-10-01", "/clock_sync?per_page=25")
ATTENDANCE = ("/attendance", "/attendance/days/2026-10-01")
# Excel counts days as fractions.
NEARLY = timedelta(milliseconds=1)


def exported(url: str, kind: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}export={kind}"


def same(text: str, value: object, zone: ZoneInfo) -> bool:
    """Whether a cell of Excel says what the CSV says."""
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == str(value)
    if isinstance(value, int | float):
        return float(text) == value
    if isinstance(value, timedelta):
        hours, minutes = text.split(":")
        return abs(timedelta(hours=int(hours), minutes=int(minutes)) - value) < NEARLY
    if isinstance(value, datetime):
        meant = datetime.fromisoformat(text)
        local = meant.astimezone(zone).replace(tzinfo=None) if meant.tzinfo else meant
        return abs(local - value) < NEARLY
    return unguarded(text) == value or text == value


def differing(url: str, lines: list[list[str]], book: openpyxl.Workbook) -> Iterator[str]:
    sheet, about = book.worksheets
    zone = ZoneInfo(next(row[1].value for row in about if row[0].value == "Times are in"))
    rows = [[one.value for one in row] for row in sheet]
    if rows[0] != lines[0] or len(rows) != len(lines):
        yield f"{url}: {rows[0]} of {len(rows)}, not {lines[0]} of {len(lines)}"
        return
    for number, (texts, values) in enumerate(zip(lines, rows, strict=True)):
        for label, text, value in zip(lines[0], texts, values, strict=True):
            if not same(text.replace("\r\n", "\n"), value, zone):
                yield f"{url} line {number}, {label}: {value!r} in Excel, {text!r} in CSV"


async def test_every_list_says_in_excel_what_it_says_in_csv(alice: Browser, parts: Parts) -> None:
    wrong: list[str] = []
    kinds: set[type] = set()
    async with one_of_each(parts):
        async with parts.database.transaction() as db:
            await db.execute(update(Employee).where(Employee.id == 1).values(name="=cmd|' /C calc'!A0"))
        for url in VIEWS:
            answer = await alice.get(exported(url, "xlsx"))
            assert answer.status_code == 200, url
            book = openpyxl.load_workbook(io.BytesIO(answer.content))
            lines = list(csv.reader(io.StringIO((await alice.get(exported(url, "csv"))).text)))
            wrong += differing(url, lines, book)
            cells = [one for row in book.worksheets[0] for one in row]
            assert not [one.coordinate for one in cells if one.data_type == "f" or one.hyperlink], url
            kinds |= {type(one.value) for one in cells}
            if url in ATTENDANCE:
                attendance_has_its_days_times_and_hours_as_such(book)
    assert wrong == []
    assert {str, int, float, datetime, timedelta} <= kinds


def attendance_has_its_days_times_and_hours_as_such(book: openpyxl.Workbook) -> None:
    sheet = book.worksheets[0]
    row = dict(zip((one.value for one in sheet[1]), sheet[sheet.max_row], strict=True))
    times = ("Clock-in", "Clock-out")
    assert {type(row[name].value) for name in times} == {datetime}
    assert {row[name].number_format for name in times} == {"yyyy-mm-dd hh:mm:ss"}
    assert isinstance(row["Hours"].value, float | int)
    if "Workday" in row:
        assert row["Workday"].number_format == "yyyy-mm-dd"
    assert all(column.width >= 9 for column in sheet.column_dimensions.values())


async def test_a_file_is_named_and_typed_as_excel_expects(alice: Browser) -> None:
    answer = await alice.get("/attendance?from=2026-11-01&to=2026-11-30&export=xlsx")
    assert answer.headers["content-disposition"].endswith('"attendance-2026-11-01-to-2026-11-30.xlsx"')
    assert answer.headers["content-type"].startswith("application/vnd.openxmlformats-officedocument.spreadsheetml")
    assert answer.content[:2] == b"PK"


async def test_more_rows_than_excel_takes_are_offered_as_csv_instead(
    alice: Browser, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with one_of_each(parts):
        monkeypatch.setattr(exports, "MOST_ROWS", 2)
        monkeypatch.setattr(list_page, "MOST_ROWS", 2)
        answer = await alice.get("/people?q=a&export=xlsx")
        assert answer.status_code == 422
        assert "Excel takes up to 100,000 rows: use CSV, or narrow the filter." in answer.text
        assert '<a class="btn btn-primary" href="/people?q=a&amp;export=csv">Export as CSV</a>' in answer.text
        page = (await alice.get("/people")).text
        assert "Excel takes up to 100,000 rows" in page
        assert "export=xlsx" not in page
        assert (await alice.get("/people?q=zzzz&export=xlsx")).status_code == 200


async def test_a_byte_order_mark_stands_where_it_is_asked_for(alice: Browser) -> None:
    assert (await alice.get("/people?export=csv&bom=1")).content.startswith(b"\xef\xbb\xbfName,")
    assert (await alice.get("/people?export=csv")).content.startswith(b"Name,")


def test_the_comparison_finds_a_difference() -> None:
    utc = ZoneInfo("UTC")
    assert not same("1", 2, utc)
    assert not same("2026-11-25T08:00:00Z", datetime(2026, 11, 25, 9), utc)
    assert not same("8:30", timedelta(hours=8), utc)
    assert not same("", "a", utc)
    assert same("2026-11-25T08:00:00Z", datetime(2026, 11, 25, 8), utc)
    assert same("2026-11-25", datetime.combine(date(2026, 11, 25), datetime.min.time(), UTC).replace(tzinfo=None), utc)
