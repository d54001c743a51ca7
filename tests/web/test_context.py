"""The transactions of one request: its own, and the one in another workspace in between."""

from dataclasses import replace
from typing import Any

import pytest
from litestar import Request
from sqlalchemy import select

from app.db.session import PLATFORM, workspace_of
from app.errors import NotFound
from app.parts import Parts
from app.web.context import Context
from tests.surveys.calling import request_of


async def test_a_request_continues_in_its_own_workspace_after_it_was_in_another(parts: Parts) -> None:
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


async def test_a_person_reads_what_the_address_says_then_their_choice_then_what_the_browser_prefers(
    parts: Parts,
) -> None:
    async with request_of(parts, "bob", 1) as ctx:
        ctx.person = replace(ctx.user, language="de")
        scope: Any = {
            "type": "http",
            "query_string": b"lang=ar&page=2",
            "headers": [(b"accept-language", b"tr;q=0.5, fr-CA")],
        }
        ctx.meet(Request(scope))
        assert ctx.languages == ("ar", "de", "fr-CA", "tr")


async def test_work_without_a_request_knows_the_choice_alone(parts: Parts) -> None:
    async with request_of(parts, "bob", 1) as ctx:
        assert ctx.languages == ()
