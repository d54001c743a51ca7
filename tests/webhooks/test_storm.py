"""At least once, whatever dies: a small storm. The large one is tests/benchmarks/bench_webhooks.py."""

from app.db.session import Database
from tests.cluster import DatabaseUrls
from tests.conftest import KEYS
from tests.webhooks.storm import rage


async def test_the_newest_state_of_every_subject_arrives_though_the_sender_is_killed(
    database: Database, urls: DatabaseUrls
) -> None:
    storm = await rage(database, urls.app, KEYS, subjects=200, kills=5)
    assert (storm.lost, len(storm.arrived), storm.kills) == ([], 200, 5)
    assert storm.calls > 200, "some failed, and came again"
