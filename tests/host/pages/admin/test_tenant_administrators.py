"""`/admin/tenants/<key>/administrator`: the platform makes the first administrator of a tenant,
and shows the link once."""

import asyncio
import re
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from app.accounts import tenant_administrators
from app.accounts.audit import SYSTEM, record
from app.accounts.erased import ERASE
from app.accounts.models import AuditEntry, OneTimeLink, Role, Session, Tenant, User, UserRole, UserType
from app.accounts.roles import EVERYTHING
from app.db.session import Database
from app.errors import Forbidden
from tests.clock.punches.test_stale_days import until_somebody_waits
from tests.conftest import Browser, SignIn
from tests.host.pages.admin.test_roles import give, make_role
from tests.host.signing_in import PASSWORD
from tests.markup import squeezed

URL = "/admin/tenants/acme/administrator"
ADA = {"name": "Ada Byron", "email": "Ada@acme.example", "known": "0"}
_LINK = re.compile(r"/welcome/([\w-]+)")


async def account(database: Database, email: str = "ada@acme.example") -> Any:
    async with database.shared_transaction() as db:
        found = await db.execute(select(User.id, User.workspace, User.name, User.type).where(User.email == email))
        return found.one_or_none()


async def told(database: Database, workspace: str) -> list[tuple[str, str, str]]:
    """Act, subject and actor of what the audit of a workspace says, oldest first."""
    entries = select(AuditEntry.act, AuditEntry.subject_id, AuditEntry.actor_name).order_by(AuditEntry.id)
    async with database.shared_transaction() as db:
        rows = await db.execute(entries.where(AuditEntry.workspace == workspace))
        return [(row.act, row.subject_id, row.actor_name) for row in rows]


async def switch_off(database: Database, key: str = "acme") -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == key).values(active=False))


async def test_a_tenant_without_administrator_says_so_and_offers_to_make_one(alice: Browser, eve: Browser) -> None:
    text = squeezed((await alice.get("/admin/tenants")).text)
    assert text.count(">No administrator</span>") == 1
    assert f'href="{URL}' in text
    assert "/admin/tenants/globex/administrator" not in text
    for query, found in (("state=no_administrator", "Acme"), ("state=active", "Globex")):
        only = (await alice.fragment(f"/admin/tenants?{query}")).text
        assert [name for name in ("Acme", "Globex") if f">{name}</a>" in only] == [found]
    assert "Make the first administrator" in (await alice.get("/admin/tenants/acme")).text
    assert "Eve Egger" in (await alice.get("/admin/tenants/globex")).text


@pytest.mark.parametrize("change", ["deactivated", "demoted"])
async def test_who_can_no_longer_manage_users_is_no_administrator(
    alice: Browser, eve: Browser, database: Database, change: str
) -> None:
    async with database.shared_transaction() as db:
        if change == "deactivated":
            await db.execute(update(User).where(User.workspace == "globex").values(active=False))
        else:
            await db.execute(
                delete(UserRole).where(UserRole.user_id == (await account(database, "eve@example.org")).id)
            )
    assert (await alice.get("/admin/tenants")).text.count(">No administrator</span>") == 2


async def test_the_first_administrator_chooses_a_password_by_the_link_and_administers_the_tenant(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    form = (await alice.fragment(URL)).text
    assert "<html" not in form
    assert "Make the first administrator" in form
    answer = await alice.submit(URL, ADA, follow_redirects=True)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store, no-transform"
    assert "content-encoding" not in answer.headers
    made = await account(database)
    assert (made.workspace, made.name, made.type) == ("acme", "Ada Byron", "admin")
    link = _LINK.search(answer.text)
    assert link
    assert 'href="/admin/tenants/acme"' in answer.text
    assert f"/admin/users/{made.id}" not in answer.text, "it is an account of another workspace"
    assert link[1] not in (await alice.get("/admin/tenants/acme")).text
    token = re.search(r'name="csrf_token" value="([^"]+)"', (await visitor.get(f"/welcome/{link[1]}")).text)
    assert token
    chosen = {"password": PASSWORD, "again": PASSWORD, "csrf_token": token[1]}
    assert (await visitor.post(f"/welcome/{link[1]}", data=chosen)).status_code == 303
    assert (await visitor.get(f"/welcome/{link[1]}")).status_code == 404
    page = (await alice.get("/admin/tenants")).text
    assert ">No administrator</span>" not in page


async def test_both_audits_say_who_made_whom(alice: Browser, eve: Browser, database: Database) -> None:
    await alice.submit(URL.replace("acme", "globex"), {**ADA, "known": "1"})
    made = await account(database)
    assert made.workspace == "globex"
    assert await told(database, "main") == [("tenant.add_administrator", "globex", "Alice Ahn")]
    assert await told(database, "globex") == [("user.create", str(made.id), "Alice Ahn")]
    text = (await alice.get("/admin/audit")).text
    assert "Administrator of a tenant made" in text
    assert ">Tenant “Globex”</a>" in text
    assert "User “Ada Byron”" in (await eve.get("/admin/audit")).text
    entry = re.search(r'href="(/admin/audit/\d+)"', text)
    assert entry
    assert "ada@acme.example" in (await alice.get(entry[1])).text
    async with database.transaction("globex") as db:
        await record(db, SYSTEM, ERASE, "user", made.id)
    erased = (await alice.get(entry[1])).text
    assert "ada@acme.example" not in erased
    assert "Byron" not in erased


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"email": "bob@example.org"}, "An account already has this e-mail address."),
        ({"email": "eve@example.org"}, "An account already has this e-mail address."),
        ({"email": "ada"}, "Give an e-mail address"),
        ({"name": " "}, "This is needed."),
        ({"name": "x" * 201}, "At most 200 characters"),
    ],
)
async def test_what_is_wrong_makes_no_account_and_keeps_what_was_typed(
    alice: Browser, database: Database, wrong: dict[str, str], says: str
) -> None:
    answer = await alice.submit(URL, {**ADA, **wrong})
    assert answer.status_code == 422
    assert says in answer.text
    assert "Ada" in answer.text
    assert await account(database) is None
    assert await told(database, "main") == await told(database, "acme") == []


async def test_a_deactivated_tenant_gets_no_administrator(alice: Browser, database: Database) -> None:
    await alice.submit(URL, ADA)
    there = (await account(database)).id
    await switch_off(database)
    more = {**ADA, "email": "more@acme.example", "known": "1"}
    for url, data in ((URL, more), (f"{URL}/{there}", {})):
        for answer in (await alice.get(url), await alice.submit(url, data)):
            assert answer.status_code == 409
            assert "Acme is deactivated, so its people can&#39;t sign in. Activate it first." in answer.text
    assert await account(database, "more@acme.example") is None
    page = (await alice.get("/admin/tenants/acme")).text
    assert URL not in page
    assert ">Deactivated</span>" in (await alice.get("/admin/tenants?state=deactivated")).text


async def test_another_administrator_is_made_after_a_plain_word(alice: Browser, database: Database) -> None:
    url = "/admin/tenants/globex/administrator"
    page = (await alice.get(url)).text
    assert "Globex has 1 administrator" in page
    assert "Eve Egger" in page
    assert 'name="known" value="1"' in page
    refused = await alice.submit(url, {**ADA, "known": "0"})
    assert refused.status_code == 409
    assert "Meanwhile Eve Egger can administer this tenant." in refused.text
    assert await account(database) is None
    assert (await alice.submit(url, {**ADA, "known": "1"})).status_code == 303


async def test_of_two_who_make_the_first_one_at_once_the_second_is_told(alice: Browser, database: Database) -> None:
    other = {**ADA, "name": "Bo", "email": "bo@acme.example"}
    answers = await asyncio.gather(alice.submit(URL, ADA), alice.submit(URL, other))
    assert sorted(one.status_code for one in answers) == [303, 409]
    async with database.shared_transaction() as db:
        assert len((await db.scalars(select(User.id).where(User.workspace == "acme"))).all()) == 1


async def test_who_sends_the_form_while_another_one_is_being_made_waits_and_is_told(
    alice: Browser, database: Database
) -> None:
    async with database.transaction("acme") as db:
        await tenant_administrators.make(db, SYSTEM, "bo@acme.example", "Bo", known=0, reach=EVERYTHING)
        second = asyncio.create_task(alice.submit(URL, ADA))
        await until_somebody_waits(database)
    answer = await second
    assert answer.status_code == 409
    assert "Meanwhile Bo can administer this tenant." in answer.text
    assert await account(database) is None


async def test_a_person_with_fewer_rights_makes_neither_an_administrator_nor_a_link(database: Database) -> None:
    less = EVERYTHING - {"surveys.publish"}
    async with database.transaction("acme") as db:
        with pytest.raises(Forbidden):
            await tenant_administrators.make(db, SYSTEM, "ada@acme.example", "Ada", known=0, reach=less)
        made = await tenant_administrators.make(db, SYSTEM, "bo@acme.example", "Bo", known=0, reach=EVERYTHING)
        with pytest.raises(Forbidden):
            await tenant_administrators.make_link(db, SYSTEM, made.id, reach=less)


async def test_a_lost_link_is_replaced_until_there_is_a_password(alice: Browser, database: Database) -> None:
    first = _LINK.search((await alice.submit(URL, ADA, follow_redirects=True)).text)
    made = await account(database)
    page = (await alice.get("/admin/tenants/acme")).text
    assert f'href="{URL}/{made.id}' in page
    assert "Make a new link for Ada Byron?" in (await alice.get(f"{URL}/{made.id}")).text
    answer = await alice.submit(f"{URL}/{made.id}", follow_redirects=True)
    second = _LINK.search(answer.text)
    assert answer.headers["cache-control"] == "no-store, no-transform"
    assert first
    assert second
    assert first[1] != second[1]
    async with database.shared_transaction() as db:
        live = select(OneTimeLink.token_hash).where(OneTimeLink.user_id == made.id, OneTimeLink.used_at.is_(None))
        assert len((await db.scalars(live)).all()) == 1
        await db.execute(update(User).where(User.id == made.id).values(password_hash="x"))
    assert [act for act, _, _ in await told(database, "main")] == ["tenant.add_administrator", "tenant.make_link"]
    assert [act for act, _, _ in await told(database, "acme")] == ["user.create", "user.make_link"]
    assert f"{URL}/{made.id}" not in (await alice.get("/admin/tenants/acme")).text
    refused = await alice.submit(f"{URL}/{made.id}")
    assert refused.status_code == 409
    assert "Ada Byron has a password." in refused.text


async def test_only_administrators_of_that_tenant_get_a_link(alice: Browser, database: Database) -> None:
    eve, bob = [(await account(database, f"{one}@example.org")).id for one in ("eve", "bob")]
    async with database.transaction("acme") as db:
        db.add(User(workspace="acme", email="staff@acme.example", name="Stan"))
    stan = (await account(database, "staff@acme.example")).id
    await alice.submit(URL, ADA)
    for user_id in (eve, bob, stan, 987654321):
        assert (await alice.get(f"{URL}/{user_id}")).status_code == 404
        assert (await alice.submit(f"{URL}/{user_id}")).status_code == 404


async def test_it_takes_the_permission_all_rights_and_the_platform(
    alice: Browser, visitor: Browser, sign_in: SignIn, database: Database
) -> None:
    bob, eve = await sign_in("bob"), await sign_in("eve")
    await make_role(database, "Keeper of tenants", ["admin.tenants", "admin.users", "admin.roles"])
    await give(database, "vera", "Keeper of tenants")
    vera = await sign_in("vera")
    made = (await account(database, "eve@example.org")).id
    globex = "/admin/tenants/globex/administrator"
    for url in (URL, globex, f"{globex}/{made}"):
        for browser, status in ((bob, 403), (eve, 403), (vera, 403), (visitor, 303)):
            assert (await browser.get(url)).status_code == status
        for browser in (bob, eve, vera):
            assert (await browser.submit(url, ADA)).status_code == 403
        assert "Only a person who has all permissions" in (await vera.submit(url, ADA)).text
    assert "Only a person who has all permissions" in (await vera.get(URL)).text
    assert URL not in (await vera.get("/admin/tenants")).text
    page = (await vera.get("/admin/tenants/acme")).text
    assert URL not in page
    assert "A person who has all permissions can make the first one." in page
    assert (await alice.get("/admin/tenants/unknown/administrator")).status_code == 404
    assert (await alice.submit("/admin/tenants/unknown/administrator", ADA)).status_code == 404
    assert (await alice.get("/admin/tenants/main/administrator")).status_code == 404


async def test_a_tenant_that_renamed_its_types_still_gets_an_administrator(alice: Browser, database: Database) -> None:
    async with database.shared_transaction() as db:
        db.add(UserType(workspace="acme", key="boss", label="Boss"))
    assert (await alice.submit(URL, ADA)).status_code == 303
    assert (await account(database)).type == "boss"


async def test_what_fails_leaves_neither_account_nor_audit_and_the_browser_signed_in(
    alice: Browser, database: Database
) -> None:
    """The role of the tenant is gone: nothing can be made, in either workspace."""
    async with database.shared_transaction() as db:
        await db.execute(delete(Role).where(Role.workspace == "acme", Role.name == "Administrator"))
    assert (await alice.submit(URL, ADA)).status_code == 422
    assert await account(database) is None
    assert await told(database, "main") == await told(database, "acme") == []
    async with database.shared_transaction() as db:
        assert (await db.scalars(select(Session.id_hash))).all()


async def test_the_ceiling_says_where_it_is_explained(alice: Browser) -> None:
    link = re.search(r'href="/help/(operate#[\w-]+)"', (await alice.get("/admin/tenants/acme")).text)
    assert link
    name, _, anchor = link[1].partition("#")
    assert f'id="{anchor}"' in (await alice.get(f"/help/{name}")).text
