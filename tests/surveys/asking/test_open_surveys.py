"""What a person may answer now, whatever pacing says: counted in SQL and judged in Python alike."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from app.db.session import Database
from app.parts import Parts
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import open_surveys
from app.surveys.asking.open_surveys import OpenCount
from app.surveys.models import Survey
from tests.surveys.asking.test_queue import DAY, nora, publish
from tests.surveys.asking.test_responding import YESTERDAY
from tests.surveys.calling import App, request_of

__all__ = ["nora"]
TOMORROW = YESTERDAY + 2 * DAY
# (what is different about it, whether an employee of the platform may answer it, and Eve of Globex, a client)
CASES: list[tuple[dict[str, Any], bool, bool]] = [
    ({"title": "Lunch"}, True, True),
    ({"status": "draft"}, False, False),
    ({"status": "archived"}, False, False),
    ({"starts_at": TOMORROW}, False, False),
    ({"starts_at": YESTERDAY}, True, True),
    ({"ends_at": YESTERDAY}, False, False),
    ({"ends_at": TOMORROW}, True, True),
    ({"user_types": ["employee", "staff"]}, True, False),
    ({"user_types": ["admin"]}, False, True),
    ({"tenants": ["main"]}, True, False),
    ({"tenants": ["acme", "globex"]}, False, True),
    ({"deleted_at": YESTERDAY}, False, False),
]


@pytest.mark.parametrize(("different", "nora_may", "eve_may"), CASES, ids=range(len(CASES)))
async def test_the_number_is_that_of_the_list(
    parts: Parts, database: Database, different: dict[str, Any], nora_may: bool, eve_may: bool
) -> None:
    survey = await publish(database, "Lunch", enforcement="required")
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == survey.id).values(different))
    for short, may in (("nora", nora_may), ("eve", eve_may)):
        assert await both(parts, short) == (["Lunch"] if may else [], OpenCount(may, may))


async def both(parts: Parts, short: str) -> tuple[list[str], OpenCount]:
    async with request_of(parts, short, 1) as ctx:
        who = respondent_of(ctx)
        listed = await open_surveys.look_over(who, ctx, 0, 50)
        assert listed.total == len(listed.items)
        return [one.title for one in listed.items], await open_surveys.count(who, ctx)


async def test_what_was_answered_counts_no_more_until_its_next_version(
    nora: App, parts: Parts, database: Database
) -> None:
    survey = await publish(database, "Lunch")
    await nora.recorded(survey.uid, "opt_out")
    assert await both(parts, "nora") == ([], OpenCount(0, 0))
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == survey.id).values(version=2))
    assert await both(parts, "nora") == (["Lunch"], OpenCount(1, 0))


async def test_pacing_hides_nothing(nora: App, parts: Parts, database: Database) -> None:
    survey = await publish(database, "Lunch", max_prompts=1, cooldown_days=9)
    await nora.queue()
    await nora.recorded(survey.uid, "snooze")
    assert await nora.titles() == []
    assert await both(parts, "nora") == (["Lunch"], OpenCount(1, 0))


async def test_both_workspaces_count(parts: Parts, database: Database) -> None:
    await publish(database, "Own", workspace="globex", enforcement="required")
    await publish(database, "Platform", ends_at=TOMORROW + timedelta(days=1))
    assert await both(parts, "eve") == (["Own", "Platform"], OpenCount(2, 1))
