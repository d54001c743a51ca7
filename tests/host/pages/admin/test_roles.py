"""`/admin/roles`: named sets of permissions; built-in ones stay, and no person reaches beyond their own rights."""

import re
from collections.abc import Sequence

import pytest
from sqlalchemy import select, update

from app.accounts import accounts, roles
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Role
from app.accounts.permissions import EXPLAINED, GROUPS
from app.accounts.roles import BUILT_IN, PERMISSIONS
from app.db.session import Database
from app.errors import Conflict, Forbidden, Invalid, NotFound
from tests.conftest import Browser, SignIn
from tests.host.signing_in import acts


async def role_id_of(database: Database, name: str, workspace: str = "main") -> int:
    async with database.shared_transaction() as db:
        return (await db.scalars(select(Role.id).where(Role.name == name, Role.workspace == workspace))).one()


async def permissions_of(database: Database, role_id: int) -> list[str]:
    async with database.shared_transaction() as db:
        return (await db.scalars(select(Role.permissions).where(Role.id == role_id))).one()


async def give(database: Database, short: str, *names: str) -> None:
    async with database.transaction() as db:
        user = await accounts.find_by_email(db, f"{short}@example.org")
        await accounts.edit(db, COMMAND_LINE, user.id, name=user.name, kind=user.type, roles=names)


async def make_role(database: Database, name: str, permissions: Sequence[str], workspace: str = "main") -> int:
    async with database.transaction(workspace) as db:
        return await roles.add(db, COMMAND_LINE, name, permissions)


def test_every_permission_of_the_contract_has_a_name_and_none_is_there_twice() -> None:
    named = [one.name for group in GROUPS for one in group.permissions]
    assert sorted(named) == sorted(PERMISSIONS)
    assert all(one.label for one in EXPLAINED.values())
    assert len({group.key for group in GROUPS}) == len(GROUPS)


def test_each_permission_has_one_sentence_that_says_what_one_can_do_with_it() -> None:
    verbs = {one.explanation.split()[0].rstrip(",") for one in EXPLAINED.values()}
    assert verbs <= {
        "Add", "Bind", "Change", "Close", "Destroy", "Have", "Invite", "Judge", "Make", "Publish", "Rename", "Say", "See", "Start",
        "Switch", "Write",
    }  # fmt: skip
    for one in EXPLAINED.values():
        assert re.fullmatch(r"[A-Z][^.;]+\.", one.explanation), one.explanation
        assert len(one.explanation.split()) > 4, one.explanation


def test_no_two_permissions_are_called_the_same() -> None:
    assert len({one.label for one in EXPLAINED.values()}) == len(EXPLAINED)


def test_the_words_of_attendance_say_who_changes_records_and_who_sees_them() -> None:
    """As the guards of its pages have it: plain permissions see."""
    sees, changes = EXPLAINED["host.attendance"], EXPLAINED["host.attendance.decide"]
    assert not {"add", "edit", "delete"} & set(re.findall(r"\w+", f"{sees.label} {sees.explanation}".lower()))
    assert {"add", "edit", "delete", "approve"} <= set(re.findall(r"\w+", changes.explanation.lower()))


async def test_the_list_shows_the_roles_of_the_own_workspace_with_how_many_have_them(
    alice: Browser, database: Database
) -> None:
    await make_role(database, "Of Globex", ["clock.dashboard"], "globex")
    text = (await alice.get("/admin/roles")).text
    for name in BUILT_IN:
        assert name in text
    assert "Of Globex" not in text
    assert 'aria-label="1 people with the role Operator"' in text


async def test_the_list_finds_roles_by_a_permission(alice: Browser) -> None:
    text = (await alice.fragment("/admin/roles?permission=surveys.publish")).text
    found = {name for name in BUILT_IN if f">{name}</a>" in text}
    assert found == {"Administrator", "Survey author"}


async def test_the_pages_ask_for_the_permission(bob: Browser, visitor: Browser) -> None:
    assert (await bob.get("/admin/roles")).status_code == 403
    assert (await visitor.get("/admin/roles")).status_code == 303


async def test_a_role_is_made_and_its_permissions_hold(alice: Browser, sign_in: SignIn, database: Database) -> None:
    data = {"name": "Clerk", "permissions": ["host.attendance", "admin.audit"]}
    assert (await alice.submit("/admin/roles/new", data)).status_code == 303
    await give(database, "nora", "Clerk")
    nora = await sign_in("nora")
    assert (await nora.get("/admin/audit")).status_code == 200
    assert (await nora.get("/admin/users")).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "Viewer"},
        {"permissions": []},
        {"permissions": ["root"]},
        {"name": "x" * 101},
    ],
)
async def test_what_is_wrong_with_a_role_makes_none(alice: Browser, database: Database, wrong: dict[str, str]) -> None:
    answer = await alice.submit("/admin/roles/new", {"name": "Clerk", "permissions": ["host.attendance"], **wrong})
    assert answer.status_code == 422
    assert await acts(database) == []


async def test_what_is_wrong_with_the_permissions_names_them(alice: Browser) -> None:
    """They stand right below the name, which would else seem to be meant."""
    answer = await alice.submit("/admin/roles/new", {"name": "Clerk", "permissions": []})
    assert "</svg>Permissions: " in answer.text


async def test_two_workspaces_may_have_roles_of_one_name(eve: Browser, database: Database) -> None:
    await make_role(database, "Clerk", ["host.attendance"])
    assert (await eve.submit("/admin/roles/new", {"name": "Clerk", "permissions": ["host.people"]})).status_code == 303


async def test_changed_permissions_end_the_sessions_of_those_who_have_the_role(
    alice: Browser, sign_in: SignIn, database: Database
) -> None:
    role_id = await make_role(database, "Clerk", ["host.people", "admin.audit"])
    await give(database, "nora", "Clerk")
    nora, bob = await sign_in("nora"), await sign_in("bob")
    answer = await alice.submit(f"/admin/roles/{role_id}", {"name": "Clerk", "permissions": ["host.people"]})
    assert answer.status_code == 303
    assert (await nora.get("/account")).status_code == 303
    assert (await bob.get("/account")).status_code == 200
    assert "1 person has new rights" in (await alice.get("/admin/roles")).text


async def test_a_new_name_alone_signs_no_person_out(alice: Browser, sign_in: SignIn, database: Database) -> None:
    role_id = await make_role(database, "Clerk", ["host.people"])
    await give(database, "nora", "Clerk")
    nora = await sign_in("nora")
    await alice.submit(f"/admin/roles/{role_id}", {"name": "Office", "permissions": ["host.people"]})
    assert (await nora.get("/account")).status_code == 200
    assert (await acts(database))[-1] == "role.edit"


@pytest.mark.parametrize("name", BUILT_IN)
async def test_built_in_roles_are_neither_changed_nor_deleted_but_copied(
    alice: Browser, database: Database, name: str
) -> None:
    role_id = await role_id_of(database, name)
    assert (
        await alice.submit(f"/admin/roles/{role_id}", {"name": "X", "permissions": ["host.people"]})
    ).status_code == 409
    assert (await alice.get(f"/admin/roles/{role_id}/remove")).status_code == 409
    assert (await alice.submit(f"/admin/roles/{role_id}/remove")).status_code == 409
    page = (await alice.get(f"/admin/roles/{role_id}")).text
    assert 'name="permissions"' in page
    assert 'type="submit">Save' not in page
    copy = (await alice.get(f"/admin/roles/new?copy={role_id}")).text
    assert f'value="Copy of {name}"' in copy
    ticked = set(re.findall(r'value="([\w.]+)" data-group-one checked', copy))
    assert ticked == BUILT_IN[name]


def counts(page: str) -> dict[str, str]:
    """What stands beside the name of each group."""
    legends = re.findall(r"<legend.*?</legend>", page, re.DOTALL)
    said = [" ".join(re.sub(r"<[^>]+>", " ", one).split()) for one in legends]
    return {one.rsplit(" ", 3)[0]: " ".join(one.split()[-3:]) for one in said}


async def test_each_group_says_how_many_of_its_permissions_the_role_has(alice: Browser, database: Database) -> None:
    role_id = await make_role(database, "Clerk", ["host.people", "host.locks", "admin.audit"])
    page = (await alice.get(f"/admin/roles/{role_id}")).text
    expected = {group.label: f"0 of {len(group.permissions)}" for group in GROUPS}
    expected |= {"People and attendance": "2 of 4", "Administration": "1 of 10"}
    assert counts(page) == expected
    assert page.count('name="all"') == len(GROUPS)
    assert not re.search(r'name="all"[^>]*checked', page), (
        "without script a ticked box would undo what is unticked below it"
    )
    viewer = (await alice.get(f"/admin/roles/{await role_id_of(database, 'Viewer')}")).text
    assert 'name="all"' not in viewer


async def test_all_of_a_group_is_ticked_by_one_box_without_script(alice: Browser, database: Database) -> None:
    sent = {
        "name": "Clerk",
        "all": ["people-and-attendance", "surveys-and-applications"],
        "permissions": ["admin.audit"],
    }
    assert (await alice.submit("/admin/roles/new", sent)).status_code == 303
    role_id = await role_id_of(database, "Clerk")
    by_key = {group.key: [one.name for one in group.permissions] for group in GROUPS}
    whole = {*by_key["people-and-attendance"], *by_key["surveys-and-applications"], "admin.audit"}
    assert set(await permissions_of(database, role_id)) == whole
    alone = {"name": "Clerk", "all": "people-and-attendance"}
    assert (await alice.submit(f"/admin/roles/{role_id}", alone)).status_code == 303
    assert await permissions_of(database, role_id) == by_key["people-and-attendance"]


async def test_all_of_a_group_reaches_no_further_than_ones_own_rights(sign_in: SignIn, database: Database) -> None:
    await make_role(database, "Role keeper", ["admin.roles", "admin.audit"])
    await give(database, "bob", "Role keeper")
    bob = await sign_in("bob")
    page = (await bob.get("/admin/roles/new")).text
    assert page.count('name="all"') == 1
    assert "All that you may give" in page
    assert (await bob.submit("/admin/roles/new", {"name": "Clerk", "all": "administration"})).status_code == 303
    assert set(await permissions_of(database, await role_id_of(database, "Clerk"))) == {"admin.roles", "admin.audit"}
    assert (await bob.submit("/admin/roles/new", {"name": "Other", "all": "time-clock"})).status_code == 422


async def test_a_group_that_there_is_not_is_refused_and_what_was_ticked_stays(alice: Browser) -> None:
    sent = {"name": "", "all": ["administration", "root"], "permissions": ["host.people"]}
    answer = await alice.submit("/admin/roles/new", sent)
    assert answer.status_code == 422
    assert "</svg>Permissions: Choose from the list." in answer.text
    assert counts(answer.text)["Administration"] == "10 of 10"
    assert counts(answer.text)["People and attendance"] == "1 of 4"


async def test_their_permissions_are_taken_without_the_box_for_all_of_them(
    alice: Browser, bob: Browser, database: Database
) -> None:
    role_id = await make_role(database, "Clerk", ["host.people"])
    url = f"/admin/roles/{role_id}"
    base = re.search(r'name="base" value="([^"]+)"', (await alice.get(url)).text)
    assert base
    await alice.submit(url, {"name": "Clerk", "permissions": ["host.locks"]})
    mine = {"name": "Clerk", "all": "administration", "base": base[1]}
    refused = await alice.submit(url, mine)
    assert refused.status_code == 409
    newer = re.search(r'name="base" value="([^"]+)"', refused.text)
    assert newer
    taken = await alice.submit(url, {**mine, "base": newer[1], "take-permissions": "theirs"})
    assert taken.status_code == 303
    assert await permissions_of(database, role_id) == ["host.locks"]


async def test_deleting_says_how_many_lose_it_and_takes_it_from_them(
    alice: Browser, sign_in: SignIn, database: Database
) -> None:
    role_id = await make_role(database, "Clerk", ["admin.audit"])
    await give(database, "nora", "Clerk")
    await give(database, "vera", "Viewer", "Clerk")
    nora = await sign_in("nora")
    asked = await alice.fragment(f"/admin/roles/{role_id}/remove")
    assert "<html" not in asked.text
    assert re.search(r"<strong>2</strong> people lose it", asked.text)
    answer = await alice.submit(f"/admin/roles/{role_id}/remove", {"people": "2"})
    assert answer.status_code == 303
    assert (await nora.get("/account")).status_code == 303
    assert (await (await sign_in("nora")).get("/admin/audit")).status_code == 403
    assert (await (await sign_in("vera")).get("/people")).status_code == 403
    assert (await acts(database))[-1] == "role.remove"


async def test_who_came_meanwhile_is_asked_about_again(alice: Browser, database: Database) -> None:
    role_id = await make_role(database, "Clerk", ["admin.audit"])
    await give(database, "nora", "Clerk")
    answer = await alice.submit(f"/admin/roles/{role_id}/remove", {"people": "0"})
    assert answer.status_code == 200
    assert re.search(r"<strong>1</strong> person loses it", answer.text)
    assert await permissions_of(database, role_id) == ["admin.audit"]


async def test_the_last_way_to_administer_is_not_edited_or_deleted_away(alice: Browser, database: Database) -> None:
    role_id = await make_role(database, "Chief", ["admin.users", "admin.roles"])
    await give(database, "alice", "Chief")
    with pytest.raises(Conflict):
        async with database.transaction() as db:
            await roles.edit(db, COMMAND_LINE, role_id, "Chief", ["admin.users"])
    with pytest.raises(Conflict):
        async with database.transaction() as db:
            await roles.remove(db, COMMAND_LINE, role_id)
    assert await permissions_of(database, role_id) == ["admin.users", "admin.roles"]


async def test_no_person_makes_or_widens_a_role_beyond_their_own_rights(sign_in: SignIn, database: Database) -> None:
    own = await make_role(database, "Role keeper", ["admin.roles"])
    await give(database, "bob", "Role keeper")
    bob = await sign_in("bob")
    wide = {"name": "Wide", "permissions": ["admin.roles", "admin.users"]}
    assert (await bob.submit("/admin/roles/new", wide)).status_code == 403
    assert (await bob.submit(f"/admin/roles/{own}", {**wide, "name": "Role keeper"})).status_code == 403
    assert await permissions_of(database, own) == ["admin.roles"]


async def test_a_role_that_reaches_further_than_oneself_is_not_cut_or_deleted(database: Database) -> None:
    chief = await make_role(database, "Chief", ["admin.users", "admin.roles"])
    reach = frozenset({"admin.roles"})
    with pytest.raises(Forbidden):
        async with database.transaction() as db:
            await roles.edit(db, COMMAND_LINE, chief, "Chief", ["admin.roles"], reach=reach)
    with pytest.raises(Forbidden):
        async with database.transaction() as db:
            await roles.remove(db, COMMAND_LINE, chief, reach=reach)


async def test_a_right_that_there_is_no_more_is_refused_and_not_stumbled_over(database: Database) -> None:
    async with database.transaction() as db:
        role_id = await roles.add(db, COMMAND_LINE, "Made long ago", ["host.people"])
        await db.execute(update(Role).where(Role.id == role_id).values(permissions=["host.people", "host.gone"]))
        with pytest.raises(Forbidden, match=r"“host\.gone”"):
            await roles.remove(db, COMMAND_LINE, role_id, reach=roles.EVERYTHING)


async def test_who_changes_a_role_of_their_own_stays_signed_in_under_a_new_id(
    sign_in: SignIn, database: Database
) -> None:
    role_id = await make_role(database, "Extra", ["host.people"])
    await give(database, "alice", "Administrator", "Extra")
    alice = await sign_in("alice")
    old = dict(alice.cookies)
    await alice.submit(f"/admin/roles/{role_id}", {"name": "Extra", "permissions": ["host.locks"]})
    assert (await alice.get("/account")).status_code == 200
    with_old_id = Browser(transport=alice._transport, base_url="http://testserver", cookies=old)
    assert (await with_old_id.get("/account")).status_code == 303


@pytest.mark.parametrize("path", ["", "/remove"])
async def test_another_workspaces_role_is_as_good_as_none(eve: Browser, database: Database, path: str) -> None:
    role_id = await make_role(database, "Clerk", ["host.people"])
    assert (await eve.get(f"/admin/roles/{role_id}{path}")).status_code == 404
    assert (await eve.submit(f"/admin/roles/{role_id}{path}", {"name": "X", "permissions": []})).status_code == 404
    assert (await eve.get(f"/admin/roles/new?copy={role_id}")).status_code == 404
    with pytest.raises(NotFound):
        async with database.transaction("globex") as db:
            await roles.remove(db, COMMAND_LINE, role_id)


async def test_the_verbs_refuse_words_that_are_no_permissions(database: Database) -> None:
    with pytest.raises(Invalid):
        await make_role(database, "Clerk", ["host.people", "root"])
