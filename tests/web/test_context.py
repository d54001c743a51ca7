"""The transactions of one request: its own, and the one in another workspace in between."""

import pytest
from sqlalchemy import select

from app.db.session import PLATFORM, workspace_of
from app.errors import NotFound
from app.parts import Parts
from app.web.context import Context
from tests.surveys.calling import request_of


async def test_a_request_goes_on_in_its_own_workspace_after_it_was_in_another(parts: Parts) -> None:
    async with request_of(parts, "eve", 1) as ctx:
        async with ctx.inside(PLATFORM) as db:
            assert workspace_of(db) == PLATFORM
        await assert_at_home(ctx)


async def test_a_refusal_in_another_workspace_leaves_the_request_its_own_transaction(parts: Parts) -> None:
    async with request_of(parts, "eve", 1) as ctx:
        with pytest.raises(NotFound):
            async with ctx.inside(PLATFORM):
                raise NotFound
        await assert_at_home(ctx)


async def assert_at_home(ctx: Context) -> None:
    assert workspace_of(ctx.db) == "globex"
    assert await ctx.db.scalar(select(1)) == 1
