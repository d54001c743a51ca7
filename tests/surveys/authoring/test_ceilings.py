"""What a workspace may make and ask: ceilings, audiences."""

from typing import Any

import pytest
from sqlalchemy import delete, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import user_types
from app.accounts.models import Tenant, User
from app.db.session import Database
from app.errors import Forbidden, Invalid
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import audience
from app.surveys.models import Survey
from tests.surveys.authored import ANN, NOW, archive, make, read, save
from tests.surveys.drafted import defined

OPTIONAL, REQUIRED = "optional", "required"
CEILINGS = [
    # (ceiling, enforcement of what is stored, whether it may be made and changed)
    ("none", OPTIONAL, False),
    ("none", REQUIRED, False),
    ("optional", OPTIONAL, True),
    ("optional", REQUIRED, False),
    ("full", OPTIONAL, True),
    ("full", REQUIRED, True),
]


@pytest.mark.parametrize(("ceiling", "enforcement", "allowed"), CEILINGS)
async def test_a_tenant_makes_what_lies_within_its_ceiling(
    database: Database, ceiling: str, enforcement: str, allowed: bool
) -> None:
    stored = await make(database, workspace="globex", enforcement=enforcement)
    async with database.transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling=ceiling))
    definition = defined(title="Changed", enforcement=enforcement)

    async def create(db: AsyncSession, limit: str) -> Any:
        return await authoring.create(db, ANN, definition, limit)

    async def edit(db: AsyncSession, limit: str) -> Any:
        return await authoring.save(db, ANN, stored.uid, definition, revision=None, ceiling=limit)

    async def copy(db: AsyncSession, limit: str) -> Any:
        return await authoring.duplicate(db, ANN, stored.uid, limit)

    async def ask(db: AsyncSession, limit: str) -> Any:
        return await authoring.publish(db, ANN, stored.uid, NOW, limit)

    async def remove_draft(db: AsyncSession, limit: str) -> Any:
        await db.execute(update(Survey).values(status="draft"))
        return await authoring.delete(db, ANN, stored.uid)

    for act in (create, edit, copy, ask, remove_draft):
        refusal = None if allowed else f"ceiling is “{ceiling}”"
        assert (act.__name__, await refused_as(database, ceiling, act)) == (act.__name__, refusal)


async def refused_as(database: Database, ceiling: str, act: Any) -> str | None:
    try:
        async with database.transaction("globex") as db:
            assert await authoring.ceiling_of(db) == ceiling
            await act(db, ceiling)
    except Forbidden as refused:
        return refused.message.partition("authoring ")[2].partition(".")[0]
    return None


@pytest.mark.parametrize(("was", "becomes"), [(OPTIONAL, REQUIRED), (REQUIRED, OPTIONAL)])
async def test_below_a_ceiling_authors_neither_make_a_survey_required_nor_edit_one_that_is(
    database: Database, was: str, becomes: str
) -> None:
    stored = await make(database, workspace="globex", enforcement=was)
    async with database.transaction("globex") as db:
        with pytest.raises(Forbidden):
            await authoring.save(db, ANN, stored.uid, defined(enforcement=becomes), revision=None, ceiling="optional")
    assert await read(database, stored.uid, "globex") == stored


async def test_archiving_lies_within_every_ceiling(database: Database) -> None:
    stored = await make(database, "published", "globex", enforcement=REQUIRED)
    async with database.transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling="none"))
    assert await archive(database, stored)


async def test_the_platform_has_no_ceiling(database: Database) -> None:
    async with database.transaction() as db:
        assert await authoring.ceiling_of(db) == "full"
    async with database.transaction("acme") as db:
        assert await authoring.ceiling_of(db) == "optional"


async def test_only_the_platform_chooses_tenants(database: Database) -> None:
    with pytest.raises(Invalid) as refused:
        await make(database, workspace="globex", tenants=("globex",))
    assert [one.field for one in refused.value.details] == ["tenants"]
    stored = await make(database, tenants=("main", "acme"))
    assert stored.definition.tenants == ("acme", "main")
    with pytest.raises(Invalid) as unknown:
        await save(database, stored, tenants=("acme", "initech"))
    assert [(one.field, one.message) for one in unknown.value.details] == [("tenants", "There is no tenant “initech”.")]


async def test_user_types_are_those_of_the_workspace(database: Database) -> None:
    async with database.transaction("globex") as db:
        await user_types.add(db, ANN, "Pilot")
    assert (await make(database, workspace="globex", user_types=("pilot",))).definition.user_types == ("pilot",)
    with pytest.raises(Invalid) as refused:
        await make(database, user_types=("pilot", "staff"))
    assert [one.message for one in refused.value.details] == ["There is no user type “pilot” here."]


@pytest.mark.parametrize(
    ("workspace", "types", "tenants", "people"),
    [
        ("main", (), (), "alice, eve, nora, vera"),
        ("main", ("staff",), (), "vera"),
        ("main", ("admin", "employee"), (), "alice, eve, nora"),
        ("main", (), ("globex",), "eve"),
        ("main", (), ("main",), "alice, nora, vera"),
        ("main", (), ("main", "globex"), "alice, eve, nora, vera"),
        ("main", ("admin",), ("main",), "alice"),
        ("main", (), ("acme",), ""),
        ("globex", (), (), "eve"),
        ("globex", ("staff",), (), ""),
    ],
)
async def test_an_audience_is_counted_without_who_was_deactivated(
    database: Database, workspace: str, types: tuple[str, ...], tenants: tuple[str, ...], people: str
) -> None:
    async with database.transaction() as db:
        await db.execute(update(User).where(User.email == "bob@example.org").values(active=False))
    async with database.transaction(workspace) as db:
        counted = await audience.size(db, defined(user_types=types, tenants=tenants))
    assert counted == len([name for name in people.split(", ") if name])


async def test_a_deactivated_tenant_is_no_part_of_an_audience(database: Database) -> None:
    async with database.transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(active=False))
        assert await audience.size(db, defined()) == 4
        assert await audience.size(db, defined(tenants=("globex", "main"))) == 4


async def test_an_audience_is_called_by_the_labels_of_its_workspace(database: Database) -> None:
    async with database.transaction() as db:
        await user_types.rename(db, ANN, "staff", "Crew")
        told = await audience.names(db)
        assert (told.of_types(["staff"]), told.of_workspaces(["main", "acme"])) == ("Crew", "the platform itself, Acme")
    async with database.transaction("globex") as db:
        assert (await audience.names(db)).of_types(["staff"]) == "Staff"


def test_where_there_are_no_tenants_the_platform_has_its_name() -> None:
    assert audience.named(None, None).of_workspaces(["main"]) == "the platform itself"


async def test_a_type_or_tenant_that_was_deleted_stays_in_the_filter(database: Database) -> None:
    async with database.transaction() as db:
        await user_types.add(db, ANN, "Pilot")
    stored = await make(database, user_types=("pilot",), tenants=("acme",))
    async with database.transaction() as db:
        await user_types.remove(db, ANN, "pilot")
        await db.execute(delete(Tenant).where(Tenant.key == "acme"))
    saved = await save(database, stored, category="Food")
    assert (saved.stored.definition.user_types, saved.stored.definition.tenants) == (("pilot",), ("acme",))
    async with database.transaction() as db:
        copy = await authoring.load(db, await authoring.duplicate(db, ANN, stored.uid, "full"))
    assert copy.definition.user_types == ("pilot",)
