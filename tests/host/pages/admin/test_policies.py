"""`/admin/policies`: what is switched on in a workspace."""

import pytest
from sqlalchemy import select

from app.accounts import policies
from app.accounts.models import AuditEntry
from app.db.session import Database
from app.host.pages.admin import policies as page
from tests.conftest import Browser
from tests.host.signing_in import acts

ALL_ON = {name: "1" for name, value in policies.DEFAULTS.items() if value is True}
DEFAULTS = {**ALL_ON, "optional_gap_hours": "0"}


async def held(database: Database, workspace: str = "main") -> dict[str, object]:
    async with database.transaction(workspace) as db:
        return await policies.read(db, workspace)


def test_every_policy_is_on_the_page_and_in_one_section() -> None:
    assert list(page.FORM.fields) == list(policies.DEFAULTS)
    assert {one.section for one in policies.POLICIES} == page.SECTIONS.keys()


async def test_the_page_asks_for_the_permission(alice: Browser, bob: Browser, visitor: Browser) -> None:
    assert (await alice.get("/admin/policies")).status_code == 200
    assert (await bob.get("/admin/policies")).status_code == 403
    assert (await visitor.get("/admin/policies")).status_code == 303


async def test_what_is_saved_is_shown_holds_and_is_audited_with_before_and_after(
    alice: Browser, database: Database
) -> None:
    data = {**DEFAULTS, "optional_gap_hours": "48"}
    del data["me_apps"]
    assert (await alice.submit("/admin/policies", data)).status_code == 303
    assert await held(database) == {**policies.DEFAULTS, "me_apps": False, "optional_gap_hours": 48}
    assert 'value="48"' in (await alice.get("/admin/policies")).text
    async with database.shared_transaction() as db:
        entry = (await db.scalars(select(AuditEntry))).one()
    assert (entry.before, entry.after) == (
        {"me_apps": True, "optional_gap_hours": 0},
        {"me_apps": False, "optional_gap_hours": 48},
    )


async def test_saving_without_a_change_writes_nothing(alice: Browser, database: Database) -> None:
    await alice.submit("/admin/policies", DEFAULTS)
    assert await acts(database) == []


async def test_a_module_that_is_off_leaves_the_menu_and_its_api(
    alice: Browser, visitor: Browser, token: object, database: Database
) -> None:
    bearer = {"Authorization": f"Bearer {await token('alice', 'clock:read')}"}  # type: ignore[operator]
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 200
    data = dict(DEFAULTS)
    del data["module_clock"]
    await alice.submit("/admin/policies", data)
    answer = await visitor.get("/api/v1/clock/status", headers=bearer)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "module_unavailable")
    assert 'href="/clock_' not in (await alice.get("/account")).text


async def test_policies_hold_for_the_own_workspace_alone(eve: Browser, database: Database) -> None:
    data = dict(DEFAULTS)
    del data["module_surveys"]
    await eve.submit("/admin/policies", data)
    assert (await held(database, "globex"))["module_surveys"] is False
    assert (await held(database))["module_surveys"] is True


@pytest.mark.parametrize("gap", ["", "-1", "8761", "1.5", "many"])
async def test_a_pause_that_is_no_number_of_hours_changes_nothing(alice: Browser, database: Database, gap: str) -> None:
    answer = await alice.submit("/admin/policies", {"optional_gap_hours": gap})
    assert answer.status_code == 422
    assert await held(database) == policies.DEFAULTS
