"""`/admin/tenants`: the platform's view of its tenants, and the making of one."""

import re
from typing import Any

import pytest
from sqlalchemy import select, text, update

from app.accounts import audit, tenants
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Role, Tenant, User, UserType
from app.accounts.roles import BUILT_IN
from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from app.surveys.reminding.turns import LASTS
from tests.cluster import DatabaseUrls, TestCluster
from tests.conftest import Browser, SignIn
from tests.host.signing_in import acts, give_password, submit_sign_in


async def tenant_of(database: Database, key: str) -> Tenant:
    async with database.shared_transaction() as db:
        return (await db.scalars(select(Tenant).where(Tenant.key == key))).one()


async def test_the_page_belongs_to_the_platform(alice: Browser, eve: Browser, bob: Browser, visitor: Browser) -> None:
    assert (await alice.get("/admin/tenants")).status_code == 200
    assert (await eve.get("/admin/tenants")).status_code == 403  # she may administer, but a tenant
    assert (await eve.submit("/admin/tenants/globex", {"name": "Ours", "ceiling": "full"})).status_code == 403
    assert (await bob.get("/admin/tenants")).status_code == 403
    assert (await visitor.get("/admin/tenants")).status_code == 303


async def test_it_lists_tenants_with_their_users_and_shows_the_command_that_makes_one(alice: Browser) -> None:
    answer = await alice.get("/admin/tenants")
    assert "Acme" in answer.text
    assert "Globex" in answer.text
    assert "muster tenant:create" in answer.text
    only = await alice.fragment("/admin/tenants?q=glob")
    assert "Acme" not in only.text
    assert "<html" not in only.text
    drawer = await alice.fragment("/admin/tenants/globex")
    assert 'value="Globex"' in drawer.text
    assert "<html" not in drawer.text


async def test_name_and_ceiling_are_changed_and_audited(alice: Browser, eve: Browser, database: Database) -> None:
    assert (await alice.submit("/admin/tenants/globex", {"name": "Globex AG", "ceiling": "none"})).status_code == 303
    globex = await tenant_of(database, "globex")
    assert (globex.name, globex.ceiling) == ("Globex AG", "none")
    assert "Globex AG" in (await eve.get("/account")).text
    assert await acts(database) == ["tenant.edit"]
    await alice.submit("/admin/tenants/globex", {"name": "Globex AG", "ceiling": "none"})
    assert await acts(database) == ["tenant.edit"]


@pytest.mark.parametrize("wrong", [{"name": ""}, {"ceiling": "sky"}, {"name": "x" * 201}])
async def test_what_is_wrong_changes_nothing(alice: Browser, database: Database, wrong: dict[str, str]) -> None:
    data = {"name": "Other", "ceiling": "full", **wrong}
    assert (await alice.submit("/admin/tenants/globex", data)).status_code == 422
    assert (await tenant_of(database, "globex")).name == "Globex"


async def test_a_deactivated_tenant_is_out_at_once_and_comes_back_whole(
    alice: Browser, eve: Browser, visitor: Browser, database: Database, token: Any
) -> None:
    await give_password(database, "eve")
    bearer = {"Authorization": f"Bearer {await token('eve', 'clock:read')}"}
    asked = await alice.fragment("/admin/tenants/globex/deactivate")
    assert f"waited for {LASTS.days} days by then are not sent" in asked.text
    assert re.search(r"<strong>1</strong> person can no longer sign in", asked.text)
    assert "1 browser is signed out" in asked.text
    assert (await alice.submit("/admin/tenants/globex/deactivate")).status_code == 303
    assert (await eve.get("/account")).status_code == 303
    assert (await submit_sign_in(visitor, "eve")).status_code == 422
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 401
    await alice.submit("/admin/tenants/globex/activate")
    assert (await submit_sign_in(visitor, "eve")).status_code == 303
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 200
    assert await acts(database) == ["tenant.deactivate", "tenant.activate"]


async def test_many_tenants_are_deactivated_after_a_question_and_come_back(
    alice: Browser, eve: Browser, database: Database
) -> None:
    chosen = {"action": "deactivate", "id": ["acme", "globex", "unknown", "no key"]}
    asked = await alice.submit("/admin/tenants", chosen, headers={"HX-Request": "true"})
    assert "<html" not in asked.text
    assert "Deactivate 2 tenants?" in asked.text
    assert f"waited for {LASTS.days} days by then are not sent" in asked.text
    assert re.search(r"<strong>1</strong> person can no longer sign in", asked.text)
    assert "1 browser is signed out" in asked.text
    assert await acts(database) == []
    answer = await alice.submit("/admin/tenants", {**chosen, "confirmed": "1", "number": "2"})
    assert answer.headers["location"] == "/admin/tenants"
    assert "2 tenants were deactivated." in (await alice.get("/admin/tenants")).text
    assert (await eve.get("/account")).status_code == 303
    again = await alice.submit("/admin/tenants", chosen)
    assert again.status_code == 409
    assert "The selected tenants can&#39;t be deactivated: all of them were deactivated before." in again.text
    every = {"action": "activate", "all": "1"}
    assert "Activate 1 tenant?" in (await alice.submit("/admin/tenants?q=glob", every)).text
    await alice.submit("/admin/tenants?q=glob", {**every, "confirmed": "1", "number": "1"})
    assert (await tenant_of(database, "globex")).active
    assert not (await tenant_of(database, "acme")).active
    assert await acts(database) == ["tenant.deactivate", "tenant.deactivate", "tenant.activate"]


async def test_many_tenants_are_acted_on_by_who_may_with_a_selection_and_an_act(
    alice: Browser, eve: Browser, bob: Browser, visitor: Browser, database: Database
) -> None:
    every = {"action": "deactivate", "all": "1", "confirmed": "1", "number": "2"}
    for browser, status in ((eve, 403), (bob, 403), (visitor, 303)):
        assert (await browser.submit("/admin/tenants", every)).status_code == status
    assert (await tenant_of(database, "globex")).active
    assert (await alice.submit("/admin/tenants", {"action": "deactivate"})).status_code == 422
    assert (await alice.submit("/admin/tenants", {"action": "deactivate", "id": "a\x00b"})).status_code == 422
    assert (await alice.submit("/admin/tenants", {"action": "drop", "all": "1"})).status_code == 404


@pytest.fixture
async def half_removed(database: Database) -> str:
    """`tenant:remove globex` was cut off; an earlier tenant of this key was removed whole."""
    async with database.transaction() as db:
        for act in ("tenant.remove_begin", "tenant.remove", "tenant.create", "tenant.remove_begin"):
            await audit.record(db, COMMAND_LINE, act, "tenant", "globex", before={"users": 1})
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(active=False))
    return "globex"


async def test_a_tenant_whose_removal_was_cut_off_says_what_to_do_and_offers_nothing_else(
    alice: Browser, database: Database, half_removed: str
) -> None:
    page = (await alice.get(f"/admin/tenants/{half_removed}")).text
    assert "Removal begun" in page
    assert "muster tenant:remove globex" in page
    assert "Activate…" not in page
    assert ">Deactivated<" not in page
    for url in (f"/admin/tenants/{half_removed}/activate", f"/admin/tenants/{half_removed}/administrator"):
        refused = await alice.get(url)
        assert refused.status_code == 409
        assert "Run `muster tenant:remove globex` again." in refused.text
    listed = (await alice.fragment("/admin/tenants?state=half_removed")).text
    assert ">Globex<" in listed
    assert "Removal begun" in listed
    assert ">Make one<" not in listed
    assert ">Globex<" not in (await alice.fragment("/admin/tenants?state=deactivated")).text
    many = await alice.submit("/admin/tenants", {"action": "activate", "id": "globex", "confirmed": "1"})
    assert "their removal has begun" in many.text
    assert not (await tenant_of(database, half_removed)).active


async def test_a_tenant_that_came_back_after_its_removal_is_merely_deactivated(
    alice: Browser, database: Database, half_removed: str
) -> None:
    async with database.transaction() as db:
        await audit.record(db, COMMAND_LINE, "tenant.remove", "tenant", half_removed)
        await audit.record(db, COMMAND_LINE, "tenant.import", "tenant", half_removed)
    page = (await alice.get(f"/admin/tenants/{half_removed}")).text
    assert "Removal begun" not in page
    assert "Activate…" in page


async def test_other_tenants_stay_signed_in(alice: Browser, sign_in: SignIn) -> None:
    eve = await sign_in("eve")
    await alice.submit("/admin/tenants/acme/deactivate")
    assert (await eve.get("/account")).status_code == 200
    assert (await alice.get("/account")).status_code == 200


async def test_unknown_tenants_and_acts_are_not_there(alice: Browser) -> None:
    for path in ("/admin/tenants/unknown", "/admin/tenants/unknown/deactivate", "/admin/tenants/globex/drop"):
        assert (await alice.get(path)).status_code == 404
        assert (await alice.submit(path, {"name": "X", "ceiling": "full"})).status_code == 404


async def test_a_page_takes_three_selects(alice: Browser, selects: list[str]) -> None:
    await alice.get("/admin/tenants")
    assert len(selects) <= 3, selects


@pytest.fixture
async def fresh(cluster: TestCluster, template: str) -> Any:
    """A database that is thrown away: what makes schemas can't be forgotten row by row."""
    urls = cluster.clone(template)
    database = Database(urls.app, pool_size=4)
    yield urls, database
    await database.close()
    cluster.drop(urls)


async def test_making_a_tenant_makes_its_tables_roles_and_types(
    fresh: tuple[DatabaseUrls, Database], cluster: TestCluster
) -> None:
    urls, database = fresh
    await tenants.create_tenant(database, urls.owner, cluster.app_role, key="initech", name=" Initech ", ceiling="none")
    initech = await tenant_of(database, "initech")
    assert (initech.name, initech.ceiling, initech.active) == ("Initech", "none", True)
    async with database.transaction("initech") as db:
        assert await db.scalar(text("SELECT count(*) FROM employees")) == 0
        assert set(await db.scalars(select(Role.name).where(Role.workspace == "initech"))) == set(BUILT_IN)
        types = await db.scalars(select(UserType.key).where(UserType.workspace == "initech"))
        assert set(types) == {"admin", "staff", "employee", "client"}
    with pytest.raises(Conflict):
        await tenants.create_tenant(database, urls.owner, cluster.app_role, key="initech", name="Again")
    assert await acts(database) == ["tenant.create"]


async def test_a_migration_brings_built_in_roles_up_to_date_and_leaves_own_ones_and_types(database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(text("UPDATE roles SET permissions = '{host.people}' WHERE name = 'Administrator'"))
        await db.execute(
            text("INSERT INTO roles (workspace, name, permissions) VALUES ('main', 'Own', '{host.people}')")
        )
        await db.execute(text("INSERT INTO user_types VALUES ('main', 'guest', 'Guest')"))
    for _ in range(2):
        await tenants.found_all(database)
    async with database.shared_transaction() as db:
        rows = await db.execute(select(Role.name, Role.permissions).where(Role.workspace == "main"))
        held = {row.name: set(row.permissions) for row in rows}
        types = list(await db.scalars(select(UserType.key).where(UserType.workspace == "main")))
    assert held == {**{name: set(permissions) for name, permissions in BUILT_IN.items()}, "Own": {"host.people"}}
    assert types == ["guest"]


@pytest.mark.parametrize(
    "said",
    [
        ("Main", "X", "full"),
        ("main", "X", "full"),
        ("shared", "X", "full"),
        ("a-b", "X", "full"),
        ("1a", "X", "full"),
        ('a"; DROP SCHEMA main; --', "X", "full"),
        ("a" * 41, "X", "full"),
        ("fine", " ", "full"),
        ("fine", "\u3164", "full"),
        ("fine", "X", "sky"),
    ],
)
async def test_a_key_that_is_none_never_reaches_the_owner(
    database: Database, urls: DatabaseUrls, cluster: TestCluster, said: tuple[str, str, str]
) -> None:
    key, name, ceiling = said
    with pytest.raises(Invalid):
        await tenants.create_tenant(database, urls.owner, cluster.app_role, key=key, name=name, ceiling=ceiling)


@pytest.mark.parametrize("key", ["main", "shared"])
async def test_a_key_of_the_platform_is_refused_as_that(
    database: Database, urls: DatabaseUrls, cluster: TestCluster, key: str
) -> None:
    """The rules of a key, which both keep, explained nothing."""
    with pytest.raises(Invalid, match=f"The key {key} is the platform's"):
        await tenants.create_tenant(database, urls.owner, cluster.app_role, key=key, name="X")


async def test_an_unknown_workspace_is_refused(database: Database) -> None:
    async with database.shared_transaction() as db:
        await tenants.refuse_unknown(db, "main")
        await tenants.refuse_unknown(db, "globex")
        with pytest.raises(NotFound):
            await tenants.refuse_unknown(db, "unknown")


async def test_a_tenant_without_people_is_asked_about_without_a_number_of_none(
    alice: Browser, database: Database
) -> None:
    async with database.transaction() as db:
        await db.execute(update(User).where(User.workspace == "globex").values(active=False))
    asked = (await alice.fragment("/admin/tenants/globex/deactivate")).text
    assert "confirm-number" not in asked
    assert "API tokens stop working" in asked
    assert not re.search(r"\b0\b (people|browsers)|<strong>0<", asked)
