"""`/admin/users`: accounts, their roles and types, links, locks, and the last administrator."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.accounts import accounts, roles, user_types
from app.accounts.accounts import NewUser
from app.accounts.audit import COMMAND_LINE, Actor
from app.accounts.models import ApiToken, OneTimeLink, Role, User, UserRole
from app.db.session import Database
from app.errors import Conflict, Forbidden, Invalid, NotFound
from app.parts import Parts
from tests.conftest import Browser, SignIn
from tests.host.signing_in import (
    ANOTHER,
    acts,
    change_user,
    everything_audited,
    fill_in,
    give_password,
    give_second_factor,
    submit_sign_in,
    user_id_of,
    user_of,
)

NEW = {"name": "Ada Lovelace", "email": "Ada@Example.org", "type": "staff", "roles": ["Operator"]}
LINK = re.compile(r"http://testserver/welcome/([\w-]+)")


async def roles_of(database: Database, short: str) -> list[str]:
    async with database.shared_transaction() as db:
        names = select(Role.name).join(UserRole).join(User).where(User.email == f"{short}@example.org")
        return sorted(await db.scalars(names))


async def make_administrator(database: Database, short: str) -> None:
    async with database.transaction() as db:
        user = await accounts.find_by_email(db, f"{short}@example.org")
        await accounts.edit(
            db, COMMAND_LINE, user.id, name=user.name, kind=user.type, roles=[*user.roles, "Administrator"]
        )


async def test_the_list_shows_the_accounts_of_the_own_workspace_alone(alice: Browser, eve: Browser) -> None:
    ours, theirs = (await alice.get("/admin/users")).text, (await eve.get("/admin/users")).text
    assert "bob@example.org" in ours
    assert "eve@example.org" not in ours
    assert "eve@example.org" in theirs
    assert "bob@example.org" not in theirs


async def test_the_list_asks_for_signing_in_and_for_the_permission(visitor: Browser, bob: Browser) -> None:
    assert (await visitor.get("/admin/users")).headers["location"].startswith("/sign-in")
    assert (await bob.get("/admin/users")).status_code == 403


async def test_htmx_gets_the_list_alone(alice: Browser) -> None:
    answer = await alice.fragment("/admin/users?q=bob")
    assert "<html" not in answer.text
    assert "bob@example.org" in answer.text
    assert "vera@example.org" not in answer.text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("role=Viewer", {"vera"}),
        ("type=staff", {"bob", "vera"}),
        ("state=locked", {"vera"}),
        ("state=deactivated", {"bob"}),
        ("state=active", {"alice"}),
        ("state=invited", {"nora"}),
    ],
)
async def test_filters_find_by_role_type_and_state(
    alice: Browser, database: Database, query: str, found: set[str]
) -> None:
    for short in ("alice", "bob", "vera"):
        await give_password(database, short)
    await change_user(database, "vera", locked_until=datetime.now(UTC) + timedelta(minutes=5))
    await change_user(database, "bob", active=False)
    text = (await alice.fragment(f"/admin/users?{query}")).text
    assert {short for short in ("alice", "bob", "vera", "nora") if f"{short}@example.org" in text} == found


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
async def test_the_export_holds_the_filtered_accounts_and_no_secret(
    alice: Browser, database: Database, kind: str
) -> None:
    await give_password(database, "bob")
    text = (await alice.get(f"/admin/users?type=staff&export={kind}")).text
    assert "bob@example.org" in text
    assert "alice@example.org" not in text
    assert "argon2" not in text


async def test_who_makes_an_account_or_a_link_reads_first_that_no_mail_leaves(
    alice: Browser, database: Database
) -> None:
    """Otherwise they close the page with the link, and wait for a mail that never comes."""
    bob = await user_of(database, "bob")
    for page in ("new", f"{bob.id}/link"):
        assert "This server sends no mail: you see the link once" in (await alice.get(f"/admin/users/{page}")).text
    assert "ask an administrator for a link" in " ".join((await alice.get("/help")).text.split())


async def test_a_new_user_gets_a_link_that_is_shown_once_and_works(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    answer = await alice.submit("/admin/users/new", NEW, follow_redirects=True)
    assert answer.status_code == 200
    found = LINK.search(answer.text)
    assert found
    assert answer.headers["cache-control"] == "no-store, no-transform"
    ada = await user_of(database, "ada")
    assert (ada.name, ada.email, ada.type, ada.workspace) == ("Ada Lovelace", "ada@example.org", "staff", "main")
    assert await roles_of(database, "ada") == ["Operator"]
    assert found[1] not in (await alice.get(f"/admin/users/{ada.id}")).text
    assert found[1] not in await everything_audited(database)
    await fill_in(visitor, f"/welcome/{found[1]}", {"password": ANOTHER})
    assert (await visitor.get("/people")).status_code == 200
    assert (await visitor.get("/admin/users")).status_code == 403


async def test_a_taken_address_is_refused_at_the_field_with_what_was_typed_kept(alice: Browser) -> None:
    answer = await alice.submit("/admin/users/new", {**NEW, "email": "BOB@example.org"})
    assert answer.status_code == 422
    assert "An account already has this e-mail address." in answer.text
    assert 'value="Ada Lovelace"' in answer.text


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"email": "nowhere"}, {"type": "boss"}, {"roles": ["King"]}, {"name": "x" * 201}]
)
async def test_what_is_wrong_with_a_new_user_makes_no_account(
    alice: Browser, database: Database, wrong: dict[str, Any]
) -> None:
    assert (await alice.submit("/admin/users/new", {**NEW, **wrong})).status_code == 422
    async with database.shared_transaction() as db:
        assert await db.scalar(select(User.id).where(User.email == "ada@example.org")) is None


async def test_a_name_is_shown_as_text_and_never_as_markup(alice: Browser) -> None:
    await alice.submit("/admin/users/new", {**NEW, "name": "<script>alert(1)</script>"})
    text = (await alice.get("/admin/users")).text
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text


async def test_changed_roles_end_the_sessions_and_hold_at_the_next_sign_in(
    alice: Browser, bob: Browser, database: Database
) -> None:
    bob_id = await give_password(database, "bob")
    data = {"name": "Bob Neu", "type": "employee", "roles": ["Viewer"]}
    answer = await alice.submit(f"/admin/users/{bob_id}/edit", data)
    assert answer.headers["location"] == f"/admin/users/{bob_id}"
    assert (await bob.get("/account")).status_code == 303
    assert await roles_of(database, "bob") == ["Viewer"]
    assert (await user_of(database, "bob")).type == "employee"
    bob.cookies.clear()
    await submit_sign_in(bob, "bob")
    assert (await bob.get("/people")).status_code == 403


async def test_a_changed_name_alone_signs_no_person_out(alice: Browser, bob: Browser, database: Database) -> None:
    bob_id = await user_id_of(database, "bob")
    await alice.submit(f"/admin/users/{bob_id}/edit", {"name": "Bob Neu", "type": "staff", "roles": ["Operator"]})
    assert "Bob Neu" in (await bob.get("/account")).text


async def test_saving_without_a_change_writes_nothing(alice: Browser, database: Database) -> None:
    bob_id = await user_id_of(database, "bob")
    await alice.submit(f"/admin/users/{bob_id}/edit", {"name": "Bob Brandt", "type": "staff", "roles": ["Operator"]})
    assert await acts(database) == []


async def test_who_changes_their_own_roles_continues_under_a_new_session_id(alice: Browser, database: Database) -> None:
    await make_administrator(database, "bob")
    alice_id = await user_id_of(database, "alice")
    old = dict(alice.cookies)
    data = {"name": "Alice Ahn", "type": "admin", "roles": ["Administrator", "Viewer"]}
    assert (await alice.submit(f"/admin/users/{alice_id}/edit", data)).status_code == 303
    assert (await alice.get("/account")).status_code == 200
    with_old_id = Browser(transport=alice._transport, base_url="http://testserver", cookies=old)
    assert (await with_old_id.get("/account")).status_code == 303


async def test_a_deactivated_user_is_out_at_once_with_tokens_and_links(
    alice: Browser, bob: Browser, visitor: Browser, database: Database, token: Any
) -> None:
    bob_id = await give_password(database, "bob")
    bearer = {"Authorization": f"Bearer {await token('bob', 'clock:read')}"}
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 200
    made = await alice.submit(f"/admin/users/{bob_id}/link", follow_redirects=True)
    secret = LINK.search(made.text)
    assert secret
    await alice.submit(f"/admin/users/{bob_id}/deactivate")
    assert (await bob.get("/account")).status_code == 303
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 401
    assert (await submit_sign_in(visitor, "bob")).status_code == 422
    assert (await visitor.get(f"/welcome/{secret[1]}")).status_code == 404
    await alice.submit(f"/admin/users/{bob_id}/activate")
    assert (await submit_sign_in(visitor, "bob")).status_code == 303
    assert (await acts(database))[-2:] == ["user.deactivate", "user.activate"]


@pytest.mark.parametrize("action", ["deactivate", "activate", "unlock", "second-factor", "sign-out", "link"])
async def test_every_act_asks_first_and_names_who_is_meant(alice: Browser, database: Database, action: str) -> None:
    bob_id = await user_id_of(database, "bob")
    answer = await alice.fragment(f"/admin/users/{bob_id}/{action}")
    assert answer.status_code == 200
    assert "<html" not in answer.text
    assert "Bob Brandt" in answer.text
    assert f'action="/admin/users/{bob_id}/{action}"' in answer.text


async def test_a_link_for_a_known_user_leaves_the_old_password_until_it_is_used(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    bob_id = await give_password(database, "bob")
    answer = await alice.submit(f"/admin/users/{bob_id}/link", follow_redirects=True)
    found = LINK.search(answer.text)
    assert found
    assert (await submit_sign_in(visitor, "bob")).status_code == 303
    assert found[1] not in await everything_audited(database)


async def test_no_link_is_made_for_a_deactivated_user(alice: Browser, database: Database) -> None:
    bob_id = await user_id_of(database, "bob")
    await change_user(database, "bob", active=False)
    assert (await alice.submit(f"/admin/users/{bob_id}/link")).status_code == 409


async def test_unlocking_lets_them_in_before_the_lock_runs_out(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    bob_id = await give_password(database, "bob")
    for _ in range(5):
        await submit_sign_in(visitor, "bob", "wrong")
    assert (await submit_sign_in(visitor, "bob")).status_code == 422
    await alice.submit(f"/admin/users/{bob_id}/unlock")
    assert (await submit_sign_in(visitor, "bob")).status_code == 303
    assert "user.unlock" in await acts(database)


async def test_an_administrator_helps_the_person_who_lost_their_phone(
    alice: Browser, bob: Browser, visitor: Browser, parts: Parts, database: Database
) -> None:
    bob_id = await give_password(database, "bob")
    await give_second_factor(parts, "bob")
    await alice.submit(f"/admin/users/{bob_id}/second-factor")
    assert (await bob.get("/account")).status_code == 303
    assert (await submit_sign_in(visitor, "bob")).status_code == 303


async def test_signing_somebody_out_everywhere_ends_their_sessions(
    alice: Browser, sign_in: SignIn, database: Database
) -> None:
    first, second = await sign_in("bob"), await sign_in("bob")
    await alice.submit(f"/admin/users/{await user_id_of(database, 'bob')}/sign-out")
    assert (await first.get("/account")).status_code == 303
    assert (await second.get("/account")).status_code == 303


@pytest.mark.parametrize(
    "path", ["", "/edit", "/link", "/deactivate", "/activate", "/unlock", "/second-factor", "/sign-out"]
)
async def test_another_workspaces_account_is_as_good_as_none(
    alice: Browser, eve: Browser, database: Database, path: str
) -> None:
    bob_id, eve_id = await user_id_of(database, "bob"), await user_id_of(database, "eve")
    for browser, foreign in ((alice, eve_id), (eve, bob_id)):
        assert (await browser.get(f"/admin/users/{foreign}{path}")).status_code == 404
        if path:
            assert (await browser.submit(f"/admin/users/{foreign}{path}", NEW)).status_code == 404
    assert (await user_of(database, "bob")).active
    assert await roles_of(database, "eve") == ["Administrator"]


@pytest.mark.parametrize("act", ["second-factor", "link"])
async def test_an_open_browser_of_an_administrator_takes_no_way_around_their_password(
    alice: Browser, database: Database, parts: Parts, act: str
) -> None:
    await give_second_factor(parts, "alice")
    url = f"/admin/users/{await user_id_of(database, 'alice')}"
    for refused in (await alice.get(f"{url}/{act}"), await alice.submit(f"{url}/{act}")):
        assert refused.status_code == 409
        assert "Do this in Account" in refused.text
    assert (await user_of(database, "alice")).totp_secret is not None
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(OneTimeLink)) == 0
    shown = (await alice.get(url)).text
    assert f"{url}/{act}" not in shown
    assert 'href="/account"' in shown


async def test_no_person_deactivates_themselves(alice: Browser, database: Database) -> None:
    await make_administrator(database, "bob")
    answer = await alice.submit(f"/admin/users/{await user_id_of(database, 'alice')}/deactivate")
    assert answer.status_code == 409
    assert (await user_of(database, "alice")).active


async def ids_of(database: Database, *shorts: str) -> list[str]:
    return [str(await user_id_of(database, short)) for short in shorts]


async def active_ones(database: Database) -> set[str]:
    async with database.shared_transaction() as db:
        emails = await db.scalars(select(User.email).where(User.active, User.workspace == "main"))
        return {email.partition("@")[0] for email in emails}


async def test_a_bulk_act_asks_with_the_number_and_is_audited_for_each(
    alice: Browser, bob: Browser, database: Database
) -> None:
    chosen = {"action": "deactivate", "id": await ids_of(database, "bob", "vera")}
    asked = await alice.submit("/admin/users/bulk", chosen, headers={"HX-Request": "true"})
    assert "<html" not in asked.text
    assert "Deactivate 2 users?" in asked.text
    assert "They are signed out everywhere and can&#39;t sign in" in asked.text
    assert await acts(database) == []
    answer = await alice.submit("/admin/users/bulk", {**chosen, "confirmed": "1", "number": "2"})
    assert answer.headers["location"] == "/admin/users"
    assert "2 users were deactivated." in (await alice.get("/admin/users")).text
    assert (await bob.get("/account")).status_code == 303
    assert not {"bob", "vera"} & await active_ones(database)
    assert await acts(database) == ["user.deactivate", "user.deactivate"]
    everyone = {"action": "activate", "all": "1", "confirmed": "1", "number": "2"}
    await alice.submit("/admin/users/bulk?type=staff", everyone)
    assert {"bob", "vera"} <= await active_ones(database)
    assert (await acts(database))[2:] == ["user.activate", "user.activate"]
    none = await alice.submit("/admin/users/bulk?type=staff", everyone)
    assert none.status_code == 409
    assert "None of the selected users can be activated." in none.text


async def test_a_bulk_act_kills_links_like_the_single_one(alice: Browser, visitor: Browser, database: Database) -> None:
    bob_id = await user_id_of(database, "bob")
    made = LINK.search((await alice.submit(f"/admin/users/{bob_id}/link", follow_redirects=True)).text)
    assert made
    chosen = {"action": "deactivate", "id": await ids_of(database, "bob"), "confirmed": "1", "number": "1"}
    await alice.submit("/admin/users/bulk", chosen)
    assert (await visitor.get(f"/welcome/{made[1]}")).status_code == 404


async def test_a_bulk_act_on_everybody_leaves_oneself_and_says_so(alice: Browser, database: Database) -> None:
    await make_administrator(database, "bob")
    before = await active_ones(database)
    everyone = {"action": "deactivate", "all": "1"}
    asked = await alice.submit("/admin/users/bulk", everyone)
    assert f"Deactivate {len(before) - 1} users?" in asked.text
    assert "You can&#39;t deactivate yourself. Another administrator can." in asked.text
    await alice.submit("/admin/users/bulk", {**everyone, "confirmed": "1", "number": str(len(before) - 1)})
    assert await active_ones(database) == {"alice"}
    alone = await alice.submit("/admin/users/bulk", everyone)
    assert alone.status_code == 409
    assert "You can&#39;t deactivate yourself." in alone.text


async def test_a_bulk_act_leaves_who_may_more_and_says_how_many(sign_in: SignIn, database: Database) -> None:
    bob = await with_users_only(sign_in, database)
    async with database.transaction() as db:
        vera = await accounts.find_by_email(db, "vera@example.org")
        await accounts.edit(db, COMMAND_LINE, vera.id, name=vera.name, kind=vera.type, roles=[])
    chosen = {"action": "deactivate", "id": await ids_of(database, "alice", "vera")}
    asked = await bob.submit("/admin/users/bulk", chosen)
    assert "Deactivate 1 user?" in asked.text
    assert "1 selected account may do more than you and stays as it is." in asked.text
    await bob.submit("/admin/users/bulk", {**chosen, "confirmed": "1", "number": "1"})
    assert {"alice", "vera"} & await active_ones(database) == {"alice"}
    await change_user(database, "alice", active=False)
    chosen = {"action": "activate", "id": await ids_of(database, "alice")}
    assert (await bob.submit("/admin/users/bulk", {**chosen, "confirmed": "1", "number": "1"})).status_code == 409


async def test_several_at_once_never_take_the_last_administrator(database: Database) -> None:
    everybody = [int(one) for one in await ids_of(database, "alice", "bob", "vera")]
    with pytest.raises(Conflict, match="Make another person an administrator first"):
        async with database.transaction() as db:
            await accounts.deactivate_several(db, COMMAND_LINE, everybody)
    assert {"alice", "bob", "vera"} <= await active_ones(database)
    assert await acts(database) == []


async def test_a_bulk_act_reaches_no_other_workspace_and_needs_a_selection_an_act_and_the_permission(
    alice: Browser, bob: Browser, visitor: Browser, database: Database
) -> None:
    theirs = {"action": "deactivate", "id": await ids_of(database, "eve"), "confirmed": "1", "number": "1"}
    assert (await alice.submit("/admin/users/bulk", theirs)).status_code == 409
    async with database.transaction() as db:
        assert await accounts.deactivate_several(db, COMMAND_LINE, [await user_id_of(database, "eve")]) == []
    assert (await user_of(database, "eve")).active
    assert (await alice.submit("/admin/users/bulk", {"action": "deactivate"})).status_code == 422
    assert (await alice.submit("/admin/users/bulk", {"action": "unlock", "all": "1"})).status_code == 404
    everyone = {"action": "deactivate", "all": "1", "confirmed": "1", "number": "2"}
    assert (await bob.submit("/admin/users/bulk", everyone)).status_code == 403
    assert (await visitor.submit("/admin/users/bulk", everyone)).headers["location"].startswith("/sign-in")


async def test_the_last_administrator_keeps_their_role(alice: Browser, database: Database) -> None:
    alice_id = await user_id_of(database, "alice")
    data = {"name": "Alice Ahn", "type": "admin", "roles": ["Viewer"]}
    answer = await alice.submit(f"/admin/users/{alice_id}/edit", data)
    assert answer.status_code == 409
    assert "Make another person an administrator first" in answer.text
    assert await roles_of(database, "alice") == ["Administrator"]


async def test_the_last_administrator_can_not_be_deactivated_from_the_command_line_either(database: Database) -> None:
    with pytest.raises(Conflict):
        async with database.transaction() as db:
            await accounts.deactivate(db, COMMAND_LINE, await user_id_of(database, "alice"))
    assert (await user_of(database, "alice")).active


async def test_a_deactivated_administrator_does_not_count(alice: Browser, database: Database) -> None:
    await make_administrator(database, "bob")
    await change_user(database, "bob", active=False)
    data = {"name": "Alice Ahn", "type": "admin", "roles": ["Viewer"]}
    assert (await alice.submit(f"/admin/users/{await user_id_of(database, 'alice')}/edit", data)).status_code == 409


async def test_an_administrator_of_another_workspace_does_not_count(database: Database) -> None:
    with pytest.raises(Conflict):
        async with database.transaction("globex") as db:
            await accounts.deactivate(db, COMMAND_LINE, await user_id_of(database, "eve"))


async def test_two_administrators_who_demote_each_other_at_once_do_not_both_win(database: Database) -> None:
    await make_administrator(database, "bob")

    async def demote(short: str) -> None:
        async with database.transaction() as db:
            user = await accounts.find_by_email(db, f"{short}@example.org")
            await accounts.edit(db, COMMAND_LINE, user.id, name=user.name, kind=user.type, roles=["Viewer"])

    ends = await asyncio.gather(demote("alice"), demote("bob"), return_exceptions=True)
    assert sorted(type(end).__name__ for end in ends) == ["Conflict", "NoneType"]
    left = [short for short in ("alice", "bob") if "Administrator" in await roles_of(database, short)]
    assert len(left) == 1


async def with_users_only(sign_in: SignIn, database: Database) -> Browser:
    """Bob as somebody who keeps users and may do nothing else."""
    async with database.transaction() as db:
        await roles.add(db, COMMAND_LINE, "User keeper", ["admin.users"])
        bob = await accounts.find_by_email(db, "bob@example.org")
        await accounts.edit(db, COMMAND_LINE, bob.id, name=bob.name, kind=bob.type, roles=["User keeper"])
    return await sign_in("bob")


async def test_no_person_gives_rights_that_they_lack(sign_in: SignIn, database: Database) -> None:
    bob, bob_id = await with_users_only(sign_in, database), await user_id_of(database, "bob")
    data = {"name": "Bob Brandt", "type": "staff", "roles": ["User keeper", "Administrator"]}
    assert (await bob.submit(f"/admin/users/{bob_id}/edit", data)).status_code == 403
    assert (await bob.submit("/admin/users/new", {**NEW, "roles": ["Administrator"]})).status_code == 403
    assert await roles_of(database, "bob") == ["User keeper"]


@pytest.mark.parametrize("act", ["link", "deactivate", "second-factor", "sign-out", "unlock"])
async def test_no_person_acts_on_an_account_with_more_rights(sign_in: SignIn, database: Database, act: str) -> None:
    """Else a reset link for the administrator would be the way up."""
    bob = await with_users_only(sign_in, database)
    answer = await bob.submit(f"/admin/users/{await user_id_of(database, 'alice')}/{act}")
    assert answer.status_code == 403
    assert "welcome" not in answer.text


async def test_roles_and_types_of_another_workspace_can_not_be_given(eve: Browser, database: Database) -> None:
    async with database.transaction() as db:
        await roles.add(db, COMMAND_LINE, "Platform only", ["host.people"])
        await user_types.add(db, COMMAND_LINE, "Contractor")
    assert (await eve.submit("/admin/users/new", {**NEW, "roles": ["Platform only"]})).status_code == 422
    assert (await eve.submit("/admin/users/new", {**NEW, "type": "contractor"})).status_code == 422


async def test_the_command_line_makes_a_user_with_a_password_and_without_a_link(
    visitor: Browser, database: Database
) -> None:
    async with database.transaction("globex") as db:
        new = NewUser("Zoe@Example.org", "Zoe", "client", ("Viewer",), ANOTHER)
        created = await accounts.create(db, COMMAND_LINE, new)
    assert created.link_secret is None
    assert ANOTHER not in repr(new)
    assert (await submit_sign_in(visitor, "zoe", ANOTHER)).status_code == 303


@pytest.mark.parametrize(
    "new",
    [
        NewUser("x", "X", "staff"),
        NewUser("x@example.org", " ", "staff"),
        NewUser("x@example.org", "X", "boss"),
        NewUser("x@example.org", "X", "staff", ("King",)),
        NewUser("x@example.org", "X", "staff", (), "short"),
        NewUser("bob@example.org", "X", "staff"),
    ],
)
async def test_the_verb_refuses_what_the_page_refuses(database: Database, new: NewUser) -> None:
    with pytest.raises(Invalid):
        async with database.transaction() as db:
            await accounts.create(db, COMMAND_LINE, new)


async def test_the_verbs_find_no_account_of_another_workspace(database: Database) -> None:
    eve_id = await user_id_of(database, "eve")
    for verb in (accounts.deactivate, accounts.activate, accounts.invite, accounts.unlock, accounts.sign_out):
        with pytest.raises(NotFound):
            async with database.transaction() as db:
                await verb(db, COMMAND_LINE, eve_id)


async def test_the_reach_of_a_person_bounds_the_verb_itself(database: Database) -> None:
    bob = Actor(await user_id_of(database, "bob"), "Bob")
    with pytest.raises(Forbidden):
        async with database.transaction() as db:
            await accounts.invite(db, bob, await user_id_of(database, "alice"), reach=frozenset({"admin.users"}))


async def test_a_page_of_users_takes_four_selects(alice: Browser, selects: list[str]) -> None:
    await alice.get("/admin/users")
    assert len(selects) <= 4, selects  # one of them for the zone of its times


async def test_types_are_an_editable_list_that_begins_with_four(alice: Browser, database: Database) -> None:
    assert (await alice.submit("/admin/users/types", {"label": "Contractor abroad"})).status_code == 303
    async with database.transaction() as db:
        assert await user_types.read(db) == {
            "admin": "Admin",
            "client": "Client",
            "contractor_abroad": "Contractor abroad",
            "employee": "Employee",
            "staff": "Staff",
        }
    await alice.submit("/admin/users/types/contractor_abroad", {"label": "Freelancer"})
    await alice.submit("/admin/users/types/client/remove")
    async with database.transaction() as db:
        listed = await user_types.read(db)
    assert listed["contractor_abroad"] == "Freelancer"
    assert "client" not in listed
    assert await acts(database) == ["user_type.add", "user_type.rename", "user_type.remove"]


@pytest.mark.parametrize("label", ["", "staff", "STAFF", "Employee ", "***", "x" * 61])
async def test_a_type_needs_a_name_of_its_own(alice: Browser, label: str) -> None:
    assert (await alice.submit("/admin/users/types", {"label": label})).status_code == 422


async def test_a_type_in_use_stays(alice: Browser, database: Database) -> None:
    answer = await alice.submit("/admin/users/types/staff/remove")
    assert answer.status_code == 409
    assert "2 accounts have this type" in answer.text
    async with database.transaction() as db:
        assert "staff" in await user_types.read(db)


async def test_the_types_of_one_workspace_are_not_anothers(alice: Browser, eve: Browser) -> None:
    await alice.submit("/admin/users/types", {"label": "Contractor"})
    assert "Contractor" not in (await eve.get("/admin/users/types")).text
    assert (await eve.get("/admin/users/types/contractor")).status_code == 404


async def test_a_revoked_token_does_not_count_on_the_users_page(alice: Browser, database: Database, token: Any) -> None:
    await token("bob", "me")
    async with database.shared_transaction() as db:
        await db.execute(update(ApiToken).values(revoked_at=datetime.now(UTC)))
    text = (await alice.get(f"/admin/users/{await user_id_of(database, 'bob')}")).text
    assert re.search(r"API tokens</dt><dd>0</dd>", text)
