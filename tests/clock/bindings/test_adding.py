"""*Add as employee*: who becomes one, which codes stay, and that two who press it at once add no person twice."""

import asyncio
from collections.abc import Awaitable, Callable
from html import unescape

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import COMMAND_LINE, Actor
from app.accounts.models import AuditEntry, Role
from app.clock.bindings import actions as bindings
from app.clock.bindings import adding
from app.clock.bindings.adding import sort_out
from app.clock.bindings.code_states import Code
from app.clock.models import Binding, BindingChange, ClockEmployee, Department, Position, Setting
from app.db.session import Database
from app.host.models import Employee
from app.host.people import people, people_import
from app.host.people.people import LONGEST, EmployeeDetails, cleaned
from app.parts import Parts
from app.web.long_acts import bulk
from tests.clock.mirrored import connect, employ, mirror_person, punch
from tests.conftest import Browser
from tests.host.pages.test_acts import begin, carry_on


def code(text: str) -> Code:
    return Code(1, text, "A name", enabled=True, absent=False, listed=True, state="not_found")


@pytest.mark.parametrize(
    ("codes", "numbers", "zeros", "left"),
    [
        (["1", "2"], [], False, (["1", "2"], [], [], [])),
        (["1", "2"], ["2"], False, (["1"], ["2"], [], [])),
        (["a7"], ["A7"], False, ([], ["a7"], [], [])),
        (["007"], ["7"], False, (["007"], [], [], [])),
        (["007"], ["7"], True, ([], ["007"], [], [])),
        (["007", "07", "8"], [], True, (["8"], [], ["007", "07"], [])),
        (["007", "07"], [], False, (["007", "07"], [], [], [])),
        (["007", "07"], ["7"], True, ([], ["007", "07"], [], [])),
        (["x" * 50, "y" * 51], [], False, (["x" * 50], [], [], ["y" * 51])),
        (["1\t2", " "], [], False, ([], [], [], ["1\t2", " "])),
        (["1\u202e2", "\u3164"], [], False, ([], [], [], ["1\u202e2", "\u3164"])),
        ([], ["1"], False, ([], [], [], [])),
    ],
)
def test_which_codes_become_employees(
    codes: list[str], numbers: list[str], zeros: bool, left: tuple[list[str], ...]
) -> None:
    """`left`: those taken, and those left as known, as twins and as unfit."""
    found = sort_out([code(one) for one in codes], numbers, ignore_leading_zeros=zeros)
    assert (found.codes, [*found.known], [*found.twins], [*found.unfit]) == left
    assert len(found.left) == sum(map(bool, left[1:]))


@pytest.fixture
async def floor(database: Database) -> dict[str, int]:
    """On the clock: 100, who is unknown, with all that a clock can say; 200 whose ID number an inactive employee has;
    300 without a name; 400 bound; 500 ignored. Ids of mirrored people by code."""
    async with database.transaction() as db:
        await connect(db)
        db.add_all([Department(code="D1", name="Assembly"), Position(code="P1", name="Fitter")])
        bo = await employ(db, "Bo", "200", active=False)
        said = {"full_name": "Ada Lovelace", "email": "Ada@Example.org", "department_code": "D1", "position_code": "P1"}
        await mirror_person(db, "100", state="not_found", **said)
        await mirror_person(db, "200", state="not_found")
        await mirror_person(db, "300", state="unbound", full_name="", email="no address")
        await mirror_person(db, "400", bo)
        await mirror_person(db, "500", state="ignored")
        await punch(db, "100", "I 08:00, O 17:00")
        rows = await db.execute(select(ClockEmployee.emp_code, ClockEmployee.id))
        return {row.emp_code: row.id for row in rows}


async def test_a_person_of_the_clock_becomes_an_employee_and_is_bound(
    database: Database, floor: dict[str, int]
) -> None:
    async with database.transaction() as db:
        done = await adding.add(db, COMMAND_LINE, floor.values())
    assert done.codes == ["100", "300"]
    assert done.known == ("200",)
    async with database.transaction() as db:
        columns = (Employee.id_number, Employee.name, Employee.email, Employee.department, Employee.position)
        added = await db.execute(select(*columns).where(Employee.id_number.in_(["100", "300"])).order_by(Employee.id))
        assert [tuple(one) for one in added] == [
            ("100", "Ada Lovelace", "ada@example.org", "Assembly", "Fitter"),
            ("300", "300", None, None, None),
        ]
        bound = select(Binding.emp_code, Binding.state, Binding.method, Employee.id_number).join(
            Employee, Employee.id == Binding.host_employee_id
        )
        rows = await db.execute(bound.where(Binding.emp_code.in_(["100", "300"])).order_by(Binding.emp_code))
        assert [tuple(one) for one in rows] == [("100", "bound", "manual", "100"), ("300", "bound", "manual", "300")]
        acts = await db.scalars(select(AuditEntry.act).order_by(AuditEntry.id))
        assert list(acts) == ["employee.add", "employee.add", "binding.add", "binding.add"]
        assert await db.scalar(select(BindingChange.why).limit(1)) == "Command line added the person as an employee."


async def test_what_the_clock_says_is_kept_as_a_form_would_keep_it(database: Database) -> None:
    """In one line, without control characters, and composed."""
    async with database.transaction() as db:
        await connect(db)
        db.add_all([Department(code="D1", name="Line\r\ntwo"), Position(code="P1", name="\x07")])
        said = {"full_name": " Zoe\u0308\n\tMarsh\x01 ", "email": "zoe\x02@example.org"}
        await mirror_person(db, "700", state="not_found", department_code="D1", position_code="P1", **said)
        await mirror_person(db, "701", state="not_found", full_name="\u0958" * LONGEST["name"])
        await adding.add(db, COMMAND_LINE, await db.scalars(select(ClockEmployee.id)))
    async with database.transaction() as db:
        found = list(await db.scalars(select(Employee).order_by(Employee.id_number)))
    kept = [EmployeeDetails.of(one) for one in found]
    assert kept[0] == EmployeeDetails("700", "Zoë Marsh", None, "Line two", None)
    assert len(kept[1].name) == LONGEST["name"]
    assert [cleaned(one) for one in kept] == kept


async def test_a_deleted_employee_keeps_the_number(database: Database, floor: dict[str, int]) -> None:
    async with database.transaction() as db:
        await db.execute(update(Employee).values(deleted_at=func.now()))
        assert (await adding.add(db, COMMAND_LINE, [floor["200"]])).known == ("200",)


async def test_two_who_press_it_at_once_add_each_person_once(database: Database, floor: dict[str, int]) -> None:
    async def press() -> int:
        async with database.transaction() as db:
            return len((await adding.add(db, COMMAND_LINE, floor.values())).taken)

    assert sorted(await asyncio.gather(press(), press(), press())) == [0, 0, 2]
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Employee)) == 3


async def test_leading_zeros_count_as_the_setting_says(database: Database, floor: dict[str, int]) -> None:
    async with database.transaction() as db:
        await employ(db, "Cy", "0100")
        db.add(Setting(name="ignore_leading_zeros", value=True))
    async with database.transaction() as db:
        assert (await adding.foretell(db, floor.values())).known == ("100", "200")


async def test_a_part_of_many_leaves_what_is_the_same_id_number_as_a_code_of_another_part(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db)
        db.add(Setting(name="ignore_leading_zeros", value=True))
        codes = {one: await mirror_person(db, one, state="not_found") for one in ("a7", "0A7", "8", "09")}
        await mirror_person(db, "9", await employ(db, "Cy", "77"), state="bound")
    async with database.transaction() as db:
        parts = [await adding.add_part(db, COMMAND_LINE, [one]) for one in codes.values()]
    assert [one.codes for one in parts] == [[], [], ["8"], ["09"]]


@pytest.mark.parametrize("act", [adding.add, adding.add_part])
async def test_a_code_that_is_the_same_id_number_as_a_suggested_one_is_left(
    database: Database, act: Callable[..., Awaitable[adding.Adding]]
) -> None:
    """Otherwise the next match pass would take the suggested code for the new employee's, too."""
    async with database.transaction() as db:
        await connect(db)
        db.add(Setting(name="ignore_leading_zeros", value=True))
        people_ = [await mirror_person(db, "7", state="not_found"), await mirror_person(db, "007", state="suggested")]
    async with database.transaction() as db:
        done = await act(db, COMMAND_LINE, people_)
        assert await db.scalar(select(func.count()).select_from(Employee)) == 0
    assert (done.codes, done.twins, done.suggested) == ([], ("7",), ("007",))


@pytest.mark.parametrize("act", [adding.add, adding.add_part])
async def test_a_code_that_is_the_same_id_number_as_a_suggested_one_that_was_not_chosen_is_left(
    database: Database, act: Callable[..., Awaitable[adding.Adding]]
) -> None:
    """It is in another part of many, or outside the filter: the set-up adds codes that were not found."""
    async with database.transaction() as db:
        await connect(db)
        db.add(Setting(name="ignore_leading_zeros", value=True))
        seven = await mirror_person(db, "7", state="not_found")
        await mirror_person(db, "007", state="suggested")
    async with database.transaction() as db:
        done = await act(db, COMMAND_LINE, [seven])
    assert (done.codes, done.twins, done.suggested) == ([], ("7",), ())
    assert done.left == ["1 code stays as it is (7): another code is the same ID number."]


async def test_the_page_says_the_numbers_first(database: Database, floor: dict[str, int], alice: Browser) -> None:
    chosen = {"action": "add", "id": [str(one) for one in floor.values()]}
    asked = await alice.submit("/clock_employees/bulk", chosen)
    for words in (
        "Add as employee: 2 people?",
        "2 people are added.",
        "1 code stays as it is (200)",
        "2 punches that wait are judged then",
    ):
        assert words in asked.text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Employee)) == 1
    agreed = await alice.submit("/clock_employees/bulk", {**chosen, "confirmed": "1", "number": "3"})
    assert agreed.status_code == 303
    assert "2 people were added and bound." in (await alice.get("/clock_employees")).text


async def test_one_person_is_added_from_the_drawer(database: Database, floor: dict[str, int], alice: Browser) -> None:
    page = await alice.get(f"/clock_employees/{floor['100']}")
    assert f"/clock_employees/{floor['100']}/add" in page.text
    assert "Add as employee…" not in (await alice.get(f"/clock_employees/{floor['400']}")).text
    async with database.transaction() as db:
        await db.execute(update(ClockEmployee).where(ClockEmployee.emp_code == "200").values(full_name="Bo"))
    same = (await alice.get(f"/clock_employees/{floor['200']}")).text
    assert "Add as employee…" not in same, "a person has its ID number, and is offered to be bound"
    assert "1 person is added." in (await alice.get(f"/clock_employees/{floor['100']}/add")).text
    assert (await alice.submit(f"/clock_employees/{floor['100']}/add")).status_code == 303
    assert "was added and bound to code 100." in (await alice.get("/clock_employees")).text
    known = await alice.submit(f"/clock_employees/{floor['200']}/add")
    assert known.status_code == 409
    assert "an employee has this ID number already" in known.text
    async with database.transaction() as db:
        assert await db.scalar(select(Binding.state).where(Binding.emp_code == "100")) == "bound"


@pytest.mark.parametrize("missing", ["host.people", "clock.employees.edit"])
async def test_it_takes_both_rights(database: Database, floor: dict[str, int], bob: Browser, missing: str) -> None:
    both = {"clock.employees", "clock.employees.edit", "host.people"}
    async with database.shared_transaction() as db:
        await db.execute(update(Role).where(Role.name == "Operator").values(permissions=sorted(both - {missing})))
    one = floor["100"]
    assert "Add as employee" not in (await bob.get("/clock_employees")).text
    assert "Add as employee" not in (await bob.get(f"/clock_employees/{one}")).text
    assert (await bob.get(f"/clock_employees/{one}/add")).status_code == 403
    assert (await bob.submit(f"/clock_employees/{one}/add")).status_code == 403
    many = {"action": "add", "id": [str(one)], "confirmed": "1", "number": "1"}
    assert (await bob.submit("/clock_employees/bulk", many)).status_code == 403
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Employee)) == 1


def test_the_act_is_for_codes_without_an_employee() -> None:
    assert bindings.OPEN_TO["add"] == {"not_found", "unbound", "suggested"}


@pytest.fixture
async def similar(database: Database) -> dict[str, int]:
    """Code 700 is suggested to be Cleo Marsh's; no employee is like 701. Ids of mirrored people by code."""
    async with database.transaction() as db:
        await connect(db)
        await employ(db, "Cleo Marsh", "P-9")
        await mirror_person(db, "700", full_name="Marsh, Cleo", seen=1)
        await mirror_person(db, "701", full_name="Zoran Petrov", seen=1)
        await bindings.match_all(db)
        rows = await db.execute(select(ClockEmployee.emp_code, ClockEmployee.id))
        return {row.emp_code: row.id for row in rows}


async def numbers(database: Database) -> list[str]:
    async with database.transaction() as db:
        return list(await db.scalars(select(Employee.id_number).order_by(Employee.id)))


async def test_of_many_a_code_with_a_suggestion_is_left_and_the_question_says_so(
    database: Database, similar: dict[str, int], alice: Browser
) -> None:
    chosen = {"action": "add", "id": [str(one) for one in similar.values()]}
    asked = (await alice.submit("/clock_employees/bulk", chosen)).text
    assert "Add as employee: 1 person?" in asked
    assert "1 code stays as it is (700): it has a suggestion: accept or reject it first." in asked
    await alice.submit("/clock_employees/bulk", {**chosen, "confirmed": "1", "number": "2"})
    assert await numbers(database) == ["P-9", "701"]
    only = {"action": "add", "id": str(similar["700"])}
    refused = await alice.submit("/clock_employees/bulk", only)
    assert refused.status_code == 409
    assert "accept or reject it first" in refused.text


async def test_each_ticked_code_is_counted_in_the_question_and_in_the_answer(
    database: Database, floor: dict[str, int], alice: Browser
) -> None:
    async with database.transaction() as db:
        await mirror_person(db, "600", state="disabled")
        disabled = await db.scalar(select(ClockEmployee.id).where(ClockEmployee.emp_code == "600"))
    ticked = [*floor.values(), disabled or 0]
    chosen = {"action": "add", "id": [str(one) for one in ticked]}
    stays = (
        "1 code stays as it is (400): the state is “Bound”.",
        "1 code stays as it is (500): the state is “Ignored”.",
        "1 code stays as it is (600): the state is “Disabled”.",
    )
    asked = unescape((await alice.submit("/clock_employees/bulk", chosen)).text)
    assert "2 people are added. 1 code stays as it is (200): an employee has this ID number already" in asked
    assert not [one for one in stays if one not in asked]
    await alice.submit("/clock_employees/bulk", {**chosen, "confirmed": "1", "number": "3"})
    told = unescape((await alice.get("/clock_employees")).text)
    assert "2 people were added and bound." in told
    assert not [one for one in stays if one not in told]
    refused = await alice.submit("/clock_employees/bulk", {"action": "add", "id": str(disabled)})
    assert refused.status_code == 422
    assert stays[2] in unescape(refused.text)
    refused = await alice.submit("/clock_employees/bulk", {"action": "add", "id": [str(disabled), str(floor["200"])]})
    assert refused.status_code == 409
    assert stays[2] in unescape(refused.text)


async def test_where_each_owner_of_a_number_is_inactive_the_list_says_to_activate_and_bind(
    floor: dict[str, int], alice: Browser
) -> None:
    offered = 'value="add"'
    assert offered in (await alice.get("/clock_employees?state=not_found")).text
    taken = await alice.get("/clock_employees?state=not_found&number_taken=1")
    assert ">200</a>" in taken.text
    assert offered not in taken.text
    refused = await alice.submit("/clock_employees/bulk", {"action": "add", "id": str(floor["200"])})
    assert refused.status_code == 409
    assert "Open such a code to bind it" in refused.text
    assert "“Activate and bind” is for one who is inactive" in unescape(refused.text)
    assert "Activate and bind Bo" in (await alice.get(f"/clock_employees/{floor['200']}")).text


async def test_the_drawer_still_adds_a_person_with_a_suggestion(
    database: Database, similar: dict[str, int], alice: Browser
) -> None:
    url = f"/clock_employees/{similar['700']}/add"
    assert "1 person is added." in (await alice.get(url)).text
    assert (await alice.submit(url)).status_code == 303
    assert await numbers(database) == ["P-9", "700"]


async def test_a_job_that_adds_many_says_why_people_stay(
    database: Database, similar: dict[str, int], parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as db:
        await employ(db, "Old Hand", "702", active=False)
        for code_, name in (("702", "Old Hand"), ("x1", "Emil Fox"), ("X1", "Gus Hill"), ("y" * 51, "Ida Kern")):
            await mirror_person(db, code_, full_name=name, seen=1, state="not_found")
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    url = "/clock_employees/bulk?state=not_found&state=suggested"
    act_id = await begin(alice, url, {"action": "add", "all": "1"})
    await carry_on(parts, act_id)
    page = (await alice.get(f"/acts/{act_id}")).text
    assert "changed meanwhile" not in page
    for stays, why in (
        ("702 Old Hand", "With an ID number that an employee has already"),
        ("x1 Emil Fox", "With the ID number of another code"),
        ("X1 Gus Hill", "With the ID number of another code"),
        ("Ida Kern", "With a code that can"),
        ("700 Marsh, Cleo", "With a suggestion: accept or reject it first"),
    ):
        [row] = [one for one in page.split("<tr>") if stays in one]
        assert why in row


async def test_a_job_that_accepts_many_says_why_people_stay(
    database: Database, similar: dict[str, int], parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as db:
        dora = await employ(db, "Dora Lind", "P-10")
        for code_, name in (("800", "Lind, Dora"), ("801", "Marsh Cleo")):
            await mirror_person(db, code_, full_name=name, seen=1)
        await bindings.match_all(db)
        await mirror_person(db, "900", dora)
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    act_id = await begin(alice, "/clock_employees/bulk?state=suggested", {"action": "accept", "all": "1"})
    await carry_on(parts, act_id)
    page = (await alice.get(f"/acts/{act_id}")).text
    assert "changed meanwhile" not in page
    for stays, why in (
        ("800 Lind, Dora", "Dora Lind has the code 900."),
        ("700 Marsh, Cleo", "700, 801 all name Cleo Marsh."),
        ("801 Marsh Cleo", "700, 801 all name Cleo Marsh."),
    ):
        [row] = [one for one in page.split("<tr>") if stays in one]
        assert why in row


async def an_addition(db: AsyncSession) -> None:
    await people.add(db, COMMAND_LINE, EmployeeDetails("100", "Ada Lovelace"))


async def an_import(db: AsyncSession) -> None:
    await people_import.import_csv(db, COMMAND_LINE, b"id_number,name\n100,Ada Lovelace\n")


async def an_edit(db: AsyncSession) -> None:
    await people.edit(db, COMMAND_LINE, await db.scalar(select(Employee.id)) or 0, EmployeeDetails("100", "Bo"))


@pytest.mark.parametrize("act", [an_addition, an_import, an_edit])
@pytest.mark.parametrize("adds", [adding.add, adding.add_part])
async def test_a_number_that_is_given_at_the_same_time_is_not_given_twice(
    database: Database,
    floor: dict[str, int],
    act: Callable[[AsyncSession], Awaitable[None]],
    adds: Callable[[AsyncSession, Actor, list[int]], Awaitable[adding.Adding]],
) -> None:
    async def press() -> adding.Adding:
        async with database.transaction() as db:
            return await adds(db, COMMAND_LINE, [floor["100"]])

    async with database.transaction() as db:
        await act(db)
        pressed = asyncio.create_task(press())
        await asyncio.wait([pressed], timeout=1)
        assert not pressed.done(), "it waits until the other one is saved"
    assert (await pressed).known == ("100",)
