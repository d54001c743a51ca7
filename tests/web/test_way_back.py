"""Saving leads back to the list that a form was opened from, as it was filtered and sorted; and never off this site."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from app.accounts import accounts, roles, tokens
from app.accounts.audit import COMMAND_LINE
from app.db.session import Database
from app.host.people import kiosk
from app.web.returning import LONGEST, is_ours
from tests.conftest import Browser
from tests.host.library import add_app
from tests.host.staff import ALICE, hire, work
from tests.surveys.drafted import drafted

PEOPLE = "/people?q=Ada&sort=-name&per_page=25"
ELSEWHERE = (
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "people",
)


class Sheet(HTMLParser):
    """The links and forms of a page, as a browser without script uses them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[dict[str, Any]] = []
        self._choice = ""
        self.feed(html)

    def link(self, pattern: str) -> str:
        """The first link whose address begins like that."""
        return next(one for one in self.links if re.match(pattern, one))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name, value = given.get("name", ""), given.get("value", "")
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "form":
            self.forms.append({"action": given.get("action", ""), "fields": {}})
        elif tag == "select":
            self._choice = name
        elif tag == "option" and ("selected" in given or self._choice not in self.forms[-1]["fields"]):
            self.forms[-1]["fields"][self._choice] = [value]
        elif tag == "input" and name and "form" not in given and _is_sent(given):
            self.forms[-1]["fields"].setdefault(name, []).append(value)


def _is_sent(given: dict[str, str]) -> bool:
    return given.get("type") not in ("checkbox", "radio", "file") or "checked" in given


async def send(browser: Browser, html: str, pattern: str, **changes: str) -> str:
    """Where the form at that address leads when it is sent as it is, but for the changes."""
    form = next(one for one in Sheet(html).forms if re.fullmatch(pattern, one["action"].partition("?")[0]))
    answer = await browser.submit(form["action"], {**form["fields"], **changes})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


@pytest.fixture
async def filled(database: Database) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
        await work(db, ada, "08:00", "17:00")
        await kiosk.enrol(db, ALICE, "K17", ada)
        await add_app(db)
        await roles.add(db, COMMAND_LINE, "Clerk", ["host.people"])
        await drafted(db)
        vera = (await accounts.find_by_email(db, "vera@example.org")).id
        await tokens.create(db, ALICE, vera, ["me"], name="Payroll", days=1)


CASES = {
    "edit a person": (PEOPLE, [r"/people/\d+\?", r"/people/\d+/edit\?"], r"/people/\d+/edit", {"name": "Ada L."}),
    "deactivate a person": (PEOPLE, [r"/people/\d+\?", r"/people/\d+/deactivate\?"], r"/people/\d+/deactivate", {}),
    "add a person": (PEOPLE, [r"/people/add\?"], "/people/add", {"name": "Cleo Marsh", "id_number": "7"}),
    "enrol a code of a person": (PEOPLE, [r"/people/\d+\?", r"/kiosk/enrol\?"], "/kiosk/enrol", {"code": "K18"}),
    "enrol a code": ("/kiosk?q=K1&sort=-code", [r"/kiosk/enrol\?"], "/kiosk/enrol", {"code": "K18", "employee": "1"}),
    "edit a record": (
        "/attendance?status=pending&per_page=100",
        [r"/attendance/\d+\?", r"/attendance/\d+/edit\?"],
        r"/attendance/\d+/edit",
        {"note": "Seen"},
    ),
    "decide on a record": ("/attendance?q=Ada", [r"/attendance/\d+\?"], r"/attendance/\d+/decide", {"status": "approved"}),
    "delete a record": (
        "/attendance/days/2026-11-20?q=Ada",
        [r"/attendance/\d+\?", r"/attendance/\d+/delete\?"],
        r"/attendance/\d+/delete",
        {},
    ),
    "edit an app": ("/apps?q=shift", [r"/apps/\d+\?", r"/apps/\d+/edit\?"], r"/apps/\d+/edit", {"name": "Planner"}),
    "delete an app": ("/apps?q=shift", [r"/apps/\d+\?", r"/apps/\d+/delete\?"], r"/apps/\d+/delete", {}),
    "edit a user": (
        "/admin/users?q=vera&sort=-email",
        [r"/admin/users/\d+\?", r"/admin/users/\d+/edit\?"],
        r"/admin/users/\d+/edit",
        {"name": "Vera V."},
    ),
    "deactivate a user": (
        "/admin/users?q=vera",
        [r"/admin/users/\d+\?", r"/admin/users/\d+/deactivate\?"],
        r"/admin/users/\d+/deactivate",
        {},
    ),
    "edit a role": ("/admin/roles?q=Clerk", [r"/admin/roles/\d+\?"], r"/admin/roles/\d+", {"name": "Office"}),
    "make a role": (
        "/admin/roles?q=Clerk",
        [r"/admin/roles/new\?"],
        "/admin/roles/new",
        {"name": "Desk", "permissions": "host.people"},
    ),
    "delete a role": ("/admin/roles?q=Clerk", [r"/admin/roles/\d+\?", r"/admin/roles/\d+/remove\?"], r"/admin/roles/\d+/remove", {}),
    "edit a tenant": ("/admin/tenants?q=glob", [r"/admin/tenants/globex\?"], "/admin/tenants/globex", {"name": "Globex Ltd"}),
    "deactivate a tenant": (
        "/admin/tenants?q=glob",
        [r"/admin/tenants/globex\?", r"/admin/tenants/globex/deactivate\?"],
        "/admin/tenants/globex/deactivate",
        {},
    ),
    "revoke a token": ("/admin/tokens?q=pay", [r"/admin/tokens/\d+/revoke\?"], r"/admin/tokens/\d+/revoke", {}),
    "publish a survey": ("/surveys/list?q=lunch", [r"/surveys/publish/.+\?"], "/surveys/publish/.+", {}),
    "delete a survey": ("/surveys/list?sort=title", [r"/surveys/delete/.+\?"], "/surveys/delete/.+", {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("filled")
async def test_without_script_it_leads_back_to_the_list(alice: Browser, case: str) -> None:
    address, ways, form, changes = CASES[case]
    html = (await alice.get(address)).text
    for way in ways:
        html = (await alice.get(Sheet(html).link(way))).text
    assert await send(alice, html, form, **changes) == address


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("filled")
async def test_over_the_list_it_leads_back_to_what_is_beneath(alice: Browser, case: str) -> None:
    address, ways, form, changes = CASES[case]
    html = (await alice.get(address)).text
    over = {"HX-Request": "true", "HX-Target": "drawer", "HX-Current-URL": f"https://here.example{address}"}
    for way in ways:
        html = (await alice.get(Sheet(html).link(way).partition("?back=")[0], headers=over)).text
    if ways[-1] == r"/kiosk/enrol\?":
        changes = {**changes, "employee": "1"}
    assert await send(alice, html, form, **changes) == address


@pytest.mark.usefixtures("filled")
async def test_a_form_opened_by_its_address_leads_to_the_record(alice: Browser) -> None:
    html = (await alice.get("/people/1/edit")).text
    assert await send(alice, html, "/people/1/edit", name="Ada L.") == "/people/1"


@pytest.mark.usefixtures("filled")
async def test_what_was_refused_still_knows_the_way_back(alice: Browser) -> None:
    refused = await alice.submit("/people/1/edit", {"name": "", "back": PEOPLE})
    assert refused.status_code == 422
    assert await send(alice, refused.text, "/people/1/edit", name="Ada", id_number="1") == PEOPLE


@pytest.mark.usefixtures("filled")
async def test_what_is_gone_is_no_way_back(alice: Browser) -> None:
    over = {"HX-Request": "true", "HX-Target": "dialog", "HX-Current-URL": "https://here.example/attendance/1"}
    html = (await alice.get("/attendance/1/delete", headers=over)).text
    assert await send(alice, html, "/attendance/1/delete") == "/attendance/days/2026-11-20"


@pytest.mark.usefixtures("filled")
async def test_a_bulk_act_and_the_chosen_columns_lead_back_to_the_same_page(alice: Browser) -> None:
    address = "/people?sort=-name&per_page=25&page=1"
    asked = await alice.submit("/people/bulk", {"action": "deactivate", "id": "1", "back": address})
    assert await send(alice, asked.text, "/people/bulk") == address
    chosen = await alice.submit("/preferences/columns/people", {"columns": "name", "back": address})
    assert chosen.headers["location"] == address


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
@pytest.mark.usefixtures("filled")
async def test_no_way_back_leads_off_this_site(alice: Browser, elsewhere: str) -> None:
    saved = await alice.submit("/people/1/edit", {"name": "Ada", "id_number": "1", "back": elsewhere})
    assert saved.headers["location"] == "/people/1"
    page = (await alice.get("/people/1/edit", params={"back": elsewhere})).text
    assert not any("back" in form["fields"] for form in Sheet(page).forms)
    assert await send(alice, page, "/people/1/edit") == "/people/1"
    columns = await alice.submit("/preferences/columns/people", {"columns": "name", "back": elsewhere})
    assert columns.headers["location"] == "/"
    over = {"HX-Request": "true", "HX-Target": "drawer", "HX-Current-URL": f"https://evil.example{elsewhere}"}
    page = (await alice.get("/people/1/edit", headers=over)).text
    assert (await send(alice, page, "/people/1/edit")).startswith("/people")


@pytest.mark.parametrize(
    "address", ["/", "/people", "/people?q=Ada&page=2", "/people?q=%2F%2Fx", "/clock_employees?q=Grün"]
)
def test_addresses_of_this_site_are_a_way_back(address: str) -> None:
    assert is_ours(address)


@pytest.mark.parametrize("address", ["", *ELSEWHERE, "/a\\b", "/a\nb", "javascript:alert(1)", "/" + "a" * LONGEST])
def test_other_addresses_are_none(address: str) -> None:
    assert not is_ours(address)
