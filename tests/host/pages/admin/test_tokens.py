"""`/admin/tokens`: all tokens of a workspace. One's own ones: test_account."""

import json
import re
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.accounts import tokens
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import ApiToken
from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from tests.conftest import Browser, SignIn
from tests.host.pages.admin.test_account import TOKEN
from tests.host.pages.admin.test_roles import give, make_role
from tests.host.signing_in import acts, change_user, everything_audited, user_id_of

NEW = {"name": "Payroll", "email": "bob@example.org", "scopes": ["clock:read"], "life": "90"}


async def token_of(database: Database, short: str, workspace: str = "main", name: str = "Payroll") -> int:
    async with database.transaction(workspace) as db:
        owner_id = await user_id_of(database, short)
        return (await tokens.create(db, COMMAND_LINE, owner_id, ["me"], name=name)).id


async def test_the_list_shows_the_tokens_of_the_own_workspace_alone(
    alice: Browser, eve: Browser, bob: Browser, visitor: Browser, database: Database
) -> None:
    await token_of(database, "bob", name="Ours")
    await token_of(database, "eve", "globex", name="Theirs")
    assert "Ours" in (await alice.get("/admin/tokens")).text
    assert "Theirs" not in (await alice.get("/admin/tokens")).text
    assert "Theirs" in (await eve.fragment("/admin/tokens")).text
    assert (await bob.get("/admin/tokens")).status_code == 403
    assert (await visitor.get("/admin/tokens")).status_code == 303


async def test_a_page_takes_three_selects(alice: Browser, selects: list[str]) -> None:
    await alice.get("/admin/tokens")
    assert len(selects) <= 3, selects


@pytest.mark.parametrize("state", ["active", "revoked", "idle"])
async def test_the_list_finds_tokens_by_state(alice: Browser, database: Database, state: str) -> None:
    await token_of(database, "alice", name="in use")
    revoked = await token_of(database, "alice", name="taken back")
    await token_of(database, "bob", name="of somebody gone")
    async with database.transaction() as db:
        await tokens.revoke(db, COMMAND_LINE, revoked)
    await change_user(database, "bob", active=False)
    text = (await alice.fragment(f"/admin/tokens?state={state}")).text
    shown = {name for name in ("in use", "taken back", "of somebody gone") if f">{name}</td>" in text}
    assert shown == {{"active": "in use", "revoked": "taken back", "idle": "of somebody gone"}[state]}


async def test_an_administrator_makes_a_token_that_acts_as_its_owner(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    answer = await alice.submit("/admin/tokens/new", NEW, follow_redirects=True)
    found = TOKEN.search(answer.text)
    assert found
    assert found[0] not in (await alice.get("/admin/tokens")).text
    assert found[0] not in await everything_audited(database)
    async with database.shared_transaction() as db:
        assert (await db.scalars(select(ApiToken.user_id))).one() == await user_id_of(database, "bob")
    bearer = {"Authorization": f"Bearer {found[0]}"}
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 200


async def test_the_list_says_who_made_each_token(alice: Browser, bob: Browser, database: Database) -> None:
    await alice.submit("/admin/tokens/new", {**NEW, "name": "By Alice"})
    await bob.submit("/account/tokens/new", {**NEW, "name": "By Bob"})
    await token_of(database, "bob", name="By a command")
    await token_of(database, "bob", name="From before")
    async with database.shared_transaction() as db:
        unknown = update(ApiToken).where(ApiToken.name == "From before").values(made_by=None, made_by_id=None)
        await db.execute(unknown)
    lines = (await alice.get("/admin/tokens?export=jsonl")).text.splitlines()
    assert {one["name"]: one["made_by"] for one in map(json.loads, lines)} == {
        "By Alice": "Alice Ahn", "By Bob": "Bob Brandt", "By a command": "Command line", "From before": None,
    }  # fmt: skip
    page = (await alice.get("/admin/tokens")).text
    assert all(f">{maker}</td>" in page for maker in ("Alice Ahn", "Bob Brandt", "Command line", "Not known"))


async def test_the_owners_permissions_are_asked_at_each_request(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    found = TOKEN.search((await alice.submit("/admin/tokens/new", NEW, follow_redirects=True)).text)
    assert found
    await give(database, "bob", "Survey author")
    bearer = {"Authorization": f"Bearer {found[0]}"}
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 403


@pytest.mark.parametrize(
    "wrong", [{"email": "eve@example.org"}, {"email": "stranger@example.org"}, {"scopes": ["all"]}, {"life": "1"}]
)
async def test_what_is_wrong_makes_no_token(alice: Browser, database: Database, wrong: dict[str, Any]) -> None:
    assert (await alice.submit("/admin/tokens/new", {**NEW, **wrong})).status_code == 422
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(ApiToken)) == 0


async def test_no_person_makes_a_token_for_somebody_with_more_rights(sign_in: SignIn, database: Database) -> None:
    await make_role(database, "Token keeper", ["admin.tokens"])
    await give(database, "bob", "Token keeper")
    bob = await sign_in("bob")
    data = {**NEW, "scopes": ["me"], "email": "alice@example.org"}
    assert (await bob.submit("/admin/tokens/new", data)).status_code == 403


async def test_revoking_asks_first_and_is_audited_once(alice: Browser, database: Database) -> None:
    token_id = await token_of(database, "bob")
    asked = await alice.fragment(f"/admin/tokens/{token_id}/revoke")
    assert "Revoke the token Payroll of Bob Brandt?" in asked.text
    assert "<html" not in asked.text
    for _ in range(2):
        assert (await alice.submit(f"/admin/tokens/{token_id}/revoke")).status_code == 303
    assert (await acts(database)).count("token.revoke") == 1


async def revoked_ones(database: Database) -> set[int]:
    async with database.shared_transaction() as db:
        return set(await db.scalars(select(ApiToken.id).where(ApiToken.revoked_at.is_not(None))))


async def test_many_are_revoked_after_a_question_that_says_the_number(
    alice: Browser, visitor: Browser, database: Database, token: Any
) -> None:
    bearer = {"Authorization": f"Bearer {await token('bob', 'clock:read')}"}
    first, second = await token_of(database, "bob"), await token_of(database, "vera", name="Kept")
    async with database.shared_transaction() as db:
        listed = set(await db.scalars(select(ApiToken.id)))
    chosen = {"action": "revoke", "id": [str(one) for one in listed]}
    asked = await alice.submit("/admin/tokens/bulk", chosen, headers={"HX-Request": "true"})
    assert "<html" not in asked.text
    assert "Revoke 3 tokens?" in asked.text
    assert "This can&#39;t be undone. They were never used." in asked.text
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 200
    used = (await alice.submit("/admin/tokens/bulk", chosen)).text
    assert re.search(r"The latest use was on \w{3} \d+ \w{3}\.", used)
    assert await revoked_ones(database) == set()
    everything = {"action": "revoke", "all": "1", "confirmed": "1", "number": "2"}
    answer = await alice.submit("/admin/tokens/bulk?q=bob", everything)
    assert answer.headers["location"] == "/admin/tokens"
    assert "2 tokens were revoked." in (await alice.get("/admin/tokens")).text
    assert await revoked_ones(database) == listed - {second}
    assert first in await revoked_ones(database)
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 401
    assert (await acts(database)).count("token.revoke") == 2
    again = await alice.submit("/admin/tokens/bulk?q=bob", everything)
    assert again.status_code == 409
    assert "The selected tokens can&#39;t be revoked: all of them were revoked before." in again.text


async def test_many_are_revoked_in_the_own_workspace_and_by_who_may(
    eve: Browser, bob: Browser, visitor: Browser, database: Database
) -> None:
    token_id = await token_of(database, "vera")
    chosen = {"action": "revoke", "id": str(token_id), "confirmed": "1", "number": "1"}
    assert (await eve.submit("/admin/tokens/bulk", chosen)).status_code == 409
    assert (await bob.submit("/admin/tokens/bulk", chosen)).status_code == 403
    assert (await visitor.submit("/admin/tokens/bulk", chosen)).status_code == 303
    async with database.transaction("globex") as db:
        assert await tokens.revoke_several(db, COMMAND_LINE, [token_id]) == []
    assert await revoked_ones(database) == set()
    assert (await eve.submit("/admin/tokens/bulk", {"action": "revoke"})).status_code == 422
    assert (await eve.submit("/admin/tokens/bulk", {"action": "erase", "all": "1"})).status_code == 404


async def test_another_workspaces_token_is_as_good_as_none(eve: Browser, database: Database) -> None:
    token_id = await token_of(database, "bob")
    assert (await eve.get(f"/admin/tokens/{token_id}/revoke")).status_code == 404
    assert (await eve.submit(f"/admin/tokens/{token_id}/revoke")).status_code == 404
    async with database.shared_transaction() as db:
        assert (await db.execute(select(ApiToken.revoked_at))).scalar_one() is None


async def test_the_export_holds_no_token(alice: Browser, database: Database) -> None:
    await token_of(database, "bob")
    text = (await alice.get("/admin/tokens?export=jsonl")).text
    assert "Payroll" in text
    assert not re.search(r"muster_|hash", text)


async def test_a_person_has_so_many_live_tokens_and_no_more(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MOST_LIVE", 2)
    first = await token_of(database, "bob")
    await token_of(database, "bob")
    with pytest.raises(Conflict):
        await token_of(database, "bob")
    async with database.transaction() as db:
        await tokens.revoke(db, COMMAND_LINE, first)
    await token_of(database, "bob")


@pytest.mark.parametrize(("scopes", "days"), [([], None), (["all"], None), (["me", "all"], None), (["me"], 0)])
async def test_the_verb_refuses_what_makes_no_token(database: Database, scopes: list[str], days: int | None) -> None:
    with pytest.raises(Invalid):
        async with database.transaction() as db:
            await tokens.create(db, COMMAND_LINE, await user_id_of(database, "bob"), scopes, days=days)


async def test_the_verb_makes_none_for_another_workspaces_account(database: Database) -> None:
    with pytest.raises(NotFound):
        async with database.transaction("globex") as db:
            await tokens.create(db, COMMAND_LINE, await user_id_of(database, "bob"), ["me"])


async def test_a_created_token_does_not_show_itself(database: Database) -> None:
    async with database.transaction() as db:
        made = await tokens.create(db, COMMAND_LINE, await user_id_of(database, "bob"), ["me"])
    assert made.text not in repr(made)
