"""One-time links: each sets a password once, and dies when a newer one is made or its time is over."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update

from app.accounts import one_time_links, signing_in
from app.accounts.models import ApiToken, AuditEntry, OneTimeLink, Session
from app.db.session import Database
from app.parts import Parts
from tests.conftest import Browser
from tests.host.signing_in import ANOTHER, everything_audited, fill_in, give_second_factor, user_of


async def link_for(database: Database, short: str) -> str:
    user = await user_of(database, short)
    async with database.shared_transaction() as db:
        return await one_time_links.make_link(db, user.id)


async def test_a_link_sets_the_password_signs_in_and_is_used_up(visitor: Browser, database: Database) -> None:
    secret = await link_for(database, "nora")
    assert (await visitor.get(f"/welcome/{secret}")).status_code == 200
    answer = await fill_in(visitor, f"/welcome/{secret}", {"password": ANOTHER})
    assert answer.status_code == 303
    assert (await visitor.get("/account")).status_code == 200
    assert (await visitor.get(f"/welcome/{secret}")).status_code == 404
    assert ANOTHER not in await everything_audited(database)


async def test_a_link_asks_about_the_tokens_too_a_tenants_included(
    visitor: Browser, database: Database, token: Any
) -> None:
    await token("eve", "me")
    secret = await link_for(database, "eve")
    assert "Revoke my API token too" in (await visitor.get(f"/welcome/{secret}")).text
    await fill_in(visitor, f"/welcome/{secret}", {"password": ANOTHER, "revoke_tokens": "1"})
    async with database.shared_transaction() as db:
        assert await db.scalar(select(ApiToken.revoked_at)) is not None


async def test_the_audit_of_the_accounts_workspace_says_that_its_owner_set_the_password(
    alice: Browser, visitor: Browser, database: Database, token: Any
) -> None:
    await token("eve", "me")
    eve = await user_of(database, "eve")
    secret = await link_for(database, "eve")
    await fill_in(visitor, f"/welcome/{secret}", {"password": ANOTHER, "revoke_tokens": "1"})
    async with database.shared_transaction() as db:
        entries = select(AuditEntry.workspace, AuditEntry.actor_id, AuditEntry.actor_name, AuditEntry.act)
        noted = (await db.execute(entries.where(AuditEntry.act.in_(["user.set_password", "token.revoke"])))).all()
    assert {tuple(one) for one in noted} == {
        (eve.workspace, eve.id, eve.name, "user.set_password"),
        (eve.workspace, eve.id, eve.name, "token.revoke"),
    }
    assert f"number {eve.id}" not in (await alice.get("/admin/audit")).text


async def test_looking_at_a_link_does_not_use_it_up(visitor: Browser, database: Database) -> None:
    """Mail programs open links to check them."""
    secret = await link_for(database, "nora")
    for _ in range(3):
        assert (await visitor.get(f"/welcome/{secret}")).status_code == 200


async def test_a_password_that_is_too_short_leaves_the_link_alive(visitor: Browser, database: Database) -> None:
    secret = await link_for(database, "nora")
    answer = await fill_in(visitor, f"/welcome/{secret}", {"password": "short"})
    assert answer.status_code == 422
    # In the box above and at the field; the hint steps back.
    assert answer.text.count("At least 12 characters") == 2
    assert (await visitor.get(f"/welcome/{secret}")).status_code == 200


async def test_of_two_who_use_one_link_at_once_one_wins(database: Database) -> None:
    secret = await link_for(database, "nora")

    async def use(password: str) -> int | None:
        async with database.shared_transaction() as db:
            return await signing_in.use_link(db, secret, password)

    won = await asyncio.gather(use("the first of two passwords"), use("the second of two passwords"))
    assert len([one for one in won if one is not None]) == 1


async def test_a_new_link_kills_the_one_before_and_an_old_one_dies_by_itself(
    visitor: Browser, database: Database
) -> None:
    first = await link_for(database, "nora")
    second = await link_for(database, "nora")
    assert (await visitor.get(f"/welcome/{first}")).status_code == 404
    async with database.shared_transaction() as db:
        until = (await db.scalars(select(OneTimeLink.expires_at).where(OneTimeLink.used_at.is_(None)))).one()
        assert timedelta(days=2, hours=23) < until - datetime.now(UTC) <= timedelta(days=3)
        await db.execute(update(OneTimeLink).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
        assert await signing_in.use_link(db, second, ANOTHER) is None
    assert (await visitor.get(f"/welcome/{second}")).status_code == 404
    assert (await visitor.get("/welcome/made-up")).status_code == 404


async def test_a_link_ends_the_sessions_that_its_owner_had(visitor: Browser, bob: Browser, database: Database) -> None:
    secret = await link_for(database, "bob")
    await fill_in(visitor, f"/welcome/{secret}", {"password": ANOTHER})
    assert (await bob.get("/account")).status_code == 303


async def test_a_link_stands_for_the_password_alone_where_there_is_a_second_factor(
    visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_second_factor(parts, "bob")
    answer = await fill_in(visitor, f"/welcome/{await link_for(database, 'bob')}", {"password": ANOTHER})
    assert answer.headers["location"] == "/sign-in"
    assert (await visitor.get("/account")).status_code == 303
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Session)) == 0
