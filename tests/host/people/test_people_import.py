"""People from a file: all rows or none, and every bad line named."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.errors import Invalid
from app.host.events import EmployeesChanged, KioskChanged
from app.host.models import Employee, KioskEnrolment
from app.host.people import kiosk, people
from app.host.people.people_import import COLUMNS, import_csv, read
from tests.host.staff import ALICE, Ear, acts_on, employee_of, hire

HEADER = ",".join(COLUMNS)


def file(*lines: str, header: str = HEADER) -> bytes:
    return "\n".join([header, *lines]).encode()


async def bad_lines(db: AsyncSession, data: bytes) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        await import_csv(db, ALICE, data)
    return [(one.field, one.message) for one in refused.value.details]


async def test_a_line_adds_a_person_with_code_and_account(db: AsyncSession, ear: Ear) -> None:
    done = await import_csv(db, ALICE, file("7,Ada Lovelace,ada@x.org,Mill,Analyst,no,K7,BOB@example.org"))
    ada = await employee_of(db, done.added[0])
    bob = await db.scalar(select(User.id).where(User.email == "bob@example.org"))
    assert (ada.id_number, ada.name, ada.email, ada.department) == ("7", "Ada Lovelace", "ada@x.org", "Mill")
    assert (ada.position, ada.active, ada.user_id) == ("Analyst", False, bob)
    enrolled = (await db.execute(select(KioskEnrolment.code, KioskEnrolment.employee_id))).all()
    assert enrolled == [("K7", ada.id)]
    assert ear.heard == [EmployeesChanged((ada.id,)), KioskChanged(("K7",))]
    assert [act.act for act in await acts_on(db, "employee", ada.id)] == ["employee.import", "kiosk.enrol"]


async def test_a_line_updates_the_person_who_has_that_id_and_name(db: AsyncSession) -> None:
    ada = await hire(db, "Ada Lovelace", "A7", department="Mill", email="ada@x.org")
    done = await import_csv(db, ALICE, file("a7 ,ada  lovelace,,Yard,,,,"))
    assert (done.added, done.updated) == ((), (ada,))
    kept = await employee_of(db, ada)
    assert (kept.name, kept.department, kept.email, kept.active) == ("ada  lovelace", "Yard", None, True)
    act = (await acts_on(db, "employee", ada))[-1]
    assert act.before is not None
    assert act.before["department"] == "Mill"


async def test_the_same_id_with_another_name_is_another_person(db: AsyncSession) -> None:
    await hire(db, "Ada Lovelace", "7")
    done = await import_csv(db, ALICE, file("7,Grace Hopper,,,,,,"))
    assert len(done.added) == 1
    assert await db.scalar(select(func.count()).select_from(Employee)) == 2


async def test_a_column_left_out_changes_nothing(db: AsyncSession) -> None:
    ada = await hire(db, "Ada", "7", department="Mill", active=False)
    done = await import_csv(db, ALICE, file("7,Ada,Analyst", header="id_number,name,position"))
    kept = await employee_of(db, ada)
    assert (done.updated, kept.department, kept.active, kept.position) == ((ada,), "Mill", False, "Analyst")


async def test_importing_the_same_file_twice_changes_nothing_more(db: AsyncSession, ear: Ear) -> None:
    data = file("7,Ada,ada@x.org,Mill,Analyst,true,K7,bob@example.org", "8,Grace,,,,false,,")
    await import_csv(db, ALICE, data)
    ear.heard.clear()
    done = await import_csv(db, ALICE, data)
    assert (done.added, done.updated, done.unchanged, done.codes) == ((), (), 2, ())
    assert ear.heard == []


async def test_every_bad_line_is_named_and_nothing_is_written(db: AsyncSession) -> None:
    ada = await hire(db, "Ada", "1")
    await kiosk.enrol(db, ALICE, "K1", ada)
    found = await bad_lines(
        db,
        file(
            "2,Grace,,,,,,",
            ",Norman,,,,,,",
            "3,Edsger,not-an-address,,,maybe,,",
            "2,GRACE,,,,,,",
            "4,Alan,,,,,K1,",
            "5,Barbara,,,,,K5,stranger@x.org",
            "6,Tony,,,,,K6,",
            "7,Niklaus,,,,,K6,",
            "8,Too,few",
        ),
    )
    assert [line for line, _ in found] == [f"line {n}" for n in (3, 4, 4, 5, 6, 7, 9, 10)]
    assert "id_number: This is needed." in found[0][1]
    assert "same person as on line 2" in found[3][1]
    assert "belongs to another employee" in found[4][1]
    assert await db.scalar(select(func.count()).select_from(Employee)) == 1


async def test_two_people_with_one_id_and_name_cannot_be_told_apart(db: AsyncSession) -> None:
    await hire(db, "Ada", "7")
    await hire(db, "Ada", "7")
    assert "Two people" in (await bad_lines(db, file("7,Ada,,,,,,")))[0][1]


async def test_a_deleted_person_is_not_found_and_so_added_again(db: AsyncSession) -> None:
    ada = await hire(db, "Ada", "7")
    await people.remove(db, ALICE, [ada])
    done = await import_csv(db, ALICE, file("7,Ada,,,,,,"))
    assert done.added not in ((), (ada,))


async def test_an_account_of_another_workspace_is_unknown(db: AsyncSession) -> None:
    assert "no account" in (await bad_lines(db, file("7,Ada,,,,,,eve@example.org")))[0][1]


async def test_a_cell_that_our_export_guarded_comes_back_plain(db: AsyncSession) -> None:
    done = await import_csv(db, ALICE, file("'-12,'=Ada,,,,,,"))
    kept = await employee_of(db, done.added[0])
    assert (kept.id_number, kept.name) == ("-12", "=Ada")


def test_a_spreadsheets_file_is_read_with_its_mark_and_semicolons() -> None:
    lines, problems = read("\ufeffID_Number;Name\r\n7;Ada\r\n\r\n8;Grace\r\n".encode())
    assert [(line.number, line.cells["name"]) for line in lines] == [(2, "Ada"), (4, "Grace")]
    assert problems == []


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "missing"),
        (b"id_number,name\n", "no line"),
        (b"id_number,nam\n1,Ada\n", "missing: name"),
        (b"id_number,name,salary\n1,Ada,3\n", "unknown: salary"),
        (b"id_number,name,name\n1,Ada,A\n", "doubled"),
        ("id_number,name\n1,Adé\n".encode("latin-1"), "UTF-8"),
        (b'id_number,name\n1,"Ada\n', "can't be read"),
    ],
)
def test_a_file_that_is_no_such_list_is_refused_with_the_reason(data: bytes, word: str) -> None:
    with pytest.raises(Invalid, match=word):
        read(data)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_file_breaks_the_reader(data: bytes) -> None:
    try:
        lines, problems = read(b"id_number,name\n" + data)
    except Invalid:
        return
    assert lines or problems
