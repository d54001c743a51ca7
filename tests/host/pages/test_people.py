"""The pages `/people`: works, needs sign-in, refuses the role, other workspace 404, htmx gets the block."""

import json
import re
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select

from app.db.session import Database
from app.host.models import Employee
from app.host.people import kiosk, people
from tests.conftest import Browser
from tests.host.staff import ALICE, employee_of, hire

GETS = (
    "/people",
    "/people/add",
    "/people/import",
    "/people/options?q=a",
    "/people/1",
    "/people/1/edit",
    "/people/1/deactivate",
)
POSTS = ("/people/add", "/people/import", "/people/bulk", "/people/1/edit", "/people/1/delete")


async def test_a_list_shows_people_with_their_codes(database: Database, bob: Browser) -> None:
    async with database.transaction() as db:
        await kiosk.enrol(db, ALICE, "K17", await hire(db, department="Mill"))
    answer = await bob.get("/people")
    assert answer.status_code == 200
    for word in ("Ada Lovelace", "K17", "Mill", "Active"):
        assert word in answer.text


async def test_strangers_are_sent_to_sign_in_and_viewers_refused(
    database: Database, visitor: Browser, vera: Browser
) -> None:
    async with database.transaction() as db:
        await hire(db)
    for url in GETS:
        assert (await visitor.get(url)).headers["location"].startswith("/sign-in")
        assert (await vera.get(url)).status_code == 403
    for url in POSTS:
        assert (await vera.submit(url)).status_code == 403


async def test_people_of_another_workspace_do_not_exist_here(database: Database, eve: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    assert "Ada" not in (await eve.get("/people")).text
    for url in (f"/people/{ada}", f"/people/{ada}/edit", f"/people/{ada}/delete"):
        assert (await eve.get(url)).status_code == 404
    assert (await eve.submit(f"/people/{ada}/delete")).status_code == 404
    async with database.transaction() as db:
        assert (await employee_of(db, ada)).deleted_at is None


async def test_htmx_gets_the_block(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    for url, word in (
        ("/people", 'id="people-results"'),
        (f"/people/{ada}", "drawer-head"),
        (f"/people/{ada}/delete", "confirm"),
    ):
        answer = await alice.fragment(url)
        assert word in answer.text
        assert "<html" not in answer.text


async def test_filters_narrow_and_deleted_people_show_only_when_asked_for(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        await hire(db, department="Mill")
        await hire(db, "Grace Hopper", "2", active=False)
        await people.remove(db, ALICE, [await hire(db, "Alan Turing", "3")])

    async def names(query: str) -> set[str]:
        text = (await alice.get(f"/people?{query}")).text
        return {name for name in ("Ada", "Grace", "Alan") if name in text.partition("<tbody>")[2]}

    assert await names("") == {"Ada", "Grace"}
    assert await names("state=inactive") == {"Grace"}
    assert await names("state=deleted") == {"Alan"}
    assert await names("department=Mill") == {"Ada"}
    assert await names("q=hopp") == {"Grace"}
    assert await names("q=%25") == set()
    assert await names("state=nonsense") == set()


async def test_an_export_holds_the_filtered_rows(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        await hire(db, department="Mill")
        await hire(db, "Grace Hopper", "2")
    answer = await alice.get("/people?department=Mill&export=jsonl")
    (row,) = [json.loads(line) for line in answer.text.splitlines()]
    assert (row["name"], row["state"]) == ("Ada Lovelace", "active")


async def test_adding_and_editing_in_the_browser(database: Database, alice: Browser) -> None:
    answer = await alice.submit("/people/add", {"name": "Ada", "id_number": "7", "active": "1", "department": "Mill"})
    where = urlsplit(answer.headers["location"]).path
    assert answer.status_code == 303
    shown = await alice.get(where)
    assert "Ada was added." in shown.text
    answer = await alice.submit(f"{where}/edit", {"name": "Ada King", "id_number": "7"})
    assert answer.status_code == 303
    async with database.transaction() as db:
        kept = await employee_of(db, int(where.rpartition("/")[2]))
    assert (kept.name, kept.department, kept.active) == ("Ada King", None, False)


async def test_a_wrong_form_comes_back_with_the_error_and_what_was_typed(database: Database, alice: Browser) -> None:
    answer = await alice.submit("/people/add", {"name": "Ada", "id_number": "", "email": "nonsense"})
    assert answer.status_code == 422
    assert "This is needed." in answer.text
    assert 'value="nonsense"' in answer.text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Employee)) == 0


@pytest.mark.parametrize(
    ("action", "state"),
    [("deactivate", "inactive"), ("delete", "deleted"), ("activate", "active"), ("restore", "active")],
)
async def test_every_act_says_what_it_will_do_and_does_it(
    database: Database, alice: Browser, action: str, state: str
) -> None:
    async with database.transaction() as db:
        ada = await hire(db, active=action != "activate")
        if action == "restore":
            await people.remove(db, ALICE, [ada])
    question = await alice.get(f"/people/{ada}/{action}")
    assert question.status_code == 200
    assert f"{action.capitalize()} Ada Lovelace?" in question.text
    answer = await alice.submit(f"/people/{ada}/{action}")
    assert answer.status_code == 303
    assert state.capitalize() in (await alice.get(f"/people/{ada}")).text
    assert (await alice.get(f"/people/{ada}/explode")).status_code == 404


async def test_a_bulk_act_asks_with_the_number_and_reaches_only_who_it_can(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ada, grace = await hire(db), await hire(db, "Grace", "2", active=False)
    chosen = {"action": "deactivate", "id": [str(ada), str(grace)]}
    question = await alice.submit("/people/bulk", chosen, headers={"HX-Request": "true"})
    assert question.status_code == 200
    assert "Deactivate 1 person?" in question.text
    async with database.transaction() as db:
        assert (await employee_of(db, ada)).active
    answer = await alice.submit("/people/bulk", {**chosen, "confirmed": "1", "number": "1", "back": "/people?q=a"})
    assert answer.headers["location"] == "/people?q=a"
    async with database.transaction() as db:
        assert not (await employee_of(db, ada)).active


async def test_a_bulk_act_takes_any_number_of_ids_and_passes_over_what_is_none(
    database: Database, alice: Browser
) -> None:
    async with database.transaction() as db:
        await hire(db)
    posted = {"action": "deactivate", "id": [*range(1, 40_000), "9" * 5_000, "²"]}
    assert "Deactivate 1 person?" in (await alice.submit("/people/bulk", posted)).text


async def test_a_bulk_act_over_the_filter_asks_again_when_the_number_changed(
    database: Database, alice: Browser
) -> None:
    async with database.transaction() as db:
        ada = await hire(db, department="Mill")
        grace = await hire(db, "Grace", "2")
    every = {"action": "delete", "all": "1", "confirmed": "1"}
    assert "Delete 1 person?" in (await alice.submit("/people/bulk?department=Mill", {**every, "number": "7"})).text
    assert (await alice.submit("/people/bulk?department=Mill", {**every, "number": "1"})).status_code == 303
    async with database.transaction() as db:
        assert (await employee_of(db, ada)).deleted_at is not None
        assert (await employee_of(db, grace)).deleted_at is None


async def test_a_bulk_act_without_people_is_refused(database: Database, alice: Browser) -> None:
    assert (await alice.submit("/people/bulk", {"action": "delete"})).status_code == 422
    assert (await alice.submit("/people/bulk", {"action": "explode", "all": "1"})).status_code == 404


async def test_a_file_is_imported_or_its_bad_lines_are_listed(database: Database, alice: Browser) -> None:
    good = b"id_number,name\n7,Ada\n8,Grace\n"
    answer = await alice.submit("/people/import", files={"file": ("people.csv", good)})
    assert answer.status_code == 303
    assert "2 people were added" in (await alice.get("/people")).text
    answer = await alice.submit("/people/import", files={"file": ("people.csv", b"id_number,name\n9,Alan\n,Norman\n")})
    assert answer.status_code == 422
    assert "Line 3" in answer.text
    answer = await alice.submit("/people/import", files={"file": ("people.csv", b"")})
    assert "The file is empty." in answer.text
    assert "Choose a file first." in (await alice.submit("/people/import", {})).text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Employee)) == 2


async def test_search_as_you_type_offers_people_but_no_deleted_ones(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
        await people.remove(db, ALICE, [await hire(db, "Adam Deleted", "2")])
    answer = await alice.fragment("/people/options?q=ada")
    assert f'data-value="#{ada}"' in answer.text
    assert "Adam" not in answer.text


async def test_a_page_takes_at_most_four_selects(database: Database, alice: Browser, selects: list[str]) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    for url in ("/people", f"/people/{ada}/edit"):
        selects.clear()
        assert (await alice.get(url)).status_code == 200
        assert len(selects) <= 4, selects  # one of them for the zone of its times


async def account_of(database: Database, employee_id: int) -> int | None:
    async with database.transaction() as db:
        return await db.scalar(select(Employee.user_id).where(Employee.id == employee_id))


async def test_the_account_of_a_person_is_searched_and_no_list_of_all_is_sent(
    database: Database, alice: Browser, vera: Browser, visitor: Browser
) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    url = f"/people/{ada}/edit"
    page = (await alice.get(url)).text
    assert 'data-combo="/people/accounts"' in page
    assert "bob@example.org" not in page
    offered = (await alice.fragment("/people/accounts?q=brandt")).text
    [bob] = re.findall(r'data-value="(\d+)" data-label="Bob Brandt"', offered)
    assert "Vera" not in offered
    assert "Eve" not in (await alice.fragment("/people/accounts")).text  # she is of another workspace
    assert "No account found" in (await alice.fragment("/people/accounts?q=zzz")).text
    assert (await vera.get("/people/accounts")).status_code == 403
    assert (await visitor.get("/people/accounts")).status_code == 303
    form = {"name": "Ada", "id_number": "1", "active": "1"}
    assert (await alice.submit(url, {**form, "user": bob})).status_code == 303
    assert await account_of(database, ada) == int(bob)
    assert 'data-text="Bob Brandt (bob@example.org)"' in (await alice.get(url)).text
    # Without script the address is typed.
    assert (await alice.submit(url, {**form, "user": "Vera@example.org"})).status_code == 303
    assert await account_of(database, ada) not in (None, int(bob))
    for wrong in ("eve@example.org", "unknown@example.org", "999999"):
        assert (await alice.submit(url, {**form, "user": wrong})).status_code == 422
    assert (await alice.submit(url, {**form, "user": ""})).status_code == 303
    assert await account_of(database, ada) is None
