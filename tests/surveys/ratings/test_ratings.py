"""Ratings of apps: one a person, app and UTC day, and figures that agree with the ratings whatever happened."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import counting
from app.db.session import Database
from app.errors import InvalidBody
from app.host.applications import applications
from app.host.models import Application, AppRating, AppRatingCount
from app.surveys.ratings import ratings
from app.surveys.ratings.ratings import AlreadyRated, AppNotFound, Rating
from tests.host.library import NOON, add_app, app_of, publish_app
from tests.host.staff import ALICE

ADA, BEA, CAI = 7, 8, 9


async def rate(
    database: Database, app: UUID, stars: int = 4, *, user_id: int = ADA, now: datetime = NOON, platform: str = "ios"
) -> ratings.RecordedRating:
    async with database.transaction() as db:
        return await ratings.submit(db, user_id, Rating(app, stars, platform), now)


async def kept(db: AsyncSession) -> Sequence[AppRating]:
    return (await db.scalars(select(AppRating).order_by(AppRating.rated_at, AppRating.id))).all()


class TestOneADay:
    async def test_a_rating_is_kept_as_it_was_sent(self, database: Database, planner: UUID) -> None:
        async with database.transaction() as db:
            made = await ratings.submit(db, ADA, Rating(planner, 5, "android", "So quick", "2.1"), NOON)
            (row,) = await kept(db)
        assert (made.id, made.rated_on) == (row.id, date(2026, 11, 21))
        assert (row.user_id, row.rating, row.platform, row.comment, row.app_version) == (
            ADA,
            5,
            "android",
            "So quick",
            "2.1",
        )
        assert (row.rated_at, row.rated_on) == (NOON, date(2026, 11, 21))

    async def test_the_first_of_a_day_stands_whatever_platform_the_second_comes_from(
        self, database: Database, planner: UUID
    ) -> None:
        await rate(database, planner, 4)
        for again in ("ios", "android"):
            with pytest.raises(AlreadyRated):
                await rate(database, planner, 1, platform=again)
        async with database.transaction() as db:
            assert [row.rating for row in await kept(db)] == [4]
            assert (await ratings.figures(db)).distribution == {5: 0, 4: 1, 3: 0, 2: 0, 1: 0}

    async def test_other_people_and_other_apps_have_days_of_their_own(self, database: Database, planner: UUID) -> None:
        async with database.transaction() as db:
            other = await publish_app(db, "Canteen")
        for one in (
            await rate(database, planner),
            await rate(database, planner, user_id=BEA),
            await rate(database, other),
        ):
            assert one.rated_on == date(2026, 11, 21)

    async def test_the_day_ends_at_midnight_utc_to_the_microsecond(self, database: Database, planner: UUID) -> None:
        midnight = datetime(2026, 11, 22, tzinfo=UTC)
        last = await rate(database, planner, now=midnight - timedelta(milliseconds=1))
        assert last.rated_on == date(2026, 11, 21)
        with pytest.raises(AlreadyRated):
            await rate(database, planner, now=midnight - timedelta(microseconds=1))
        assert (await rate(database, planner, now=midnight)).rated_on == date(2026, 11, 22)

    async def test_the_day_is_utcs_wherever_the_clock_stands(self, database: Database, planner: UUID) -> None:
        in_kiritimati = datetime(2026, 11, 22, 1, tzinfo=timezone(timedelta(hours=14)))
        assert (await rate(database, planner, now=in_kiritimati)).rated_on == date(2026, 11, 21)

    async def test_of_four_at_once_exactly_one_is_kept(self, database: Database, planner: UUID) -> None:
        answers = await asyncio.gather(
            *(rate(database, planner, stars) for stars in (1, 2, 3, 4)), return_exceptions=True
        )
        assert sorted(type(one).__name__ for one in answers) == ["AlreadyRated"] * 3 + ["RecordedRating"]
        async with database.transaction() as db:
            assert len(await kept(db)) == 1
            assert (await ratings.figures(db)).n == 1

    async def test_a_refused_rating_does_not_use_up_the_day(self, database: Database, planner: UUID) -> None:
        with pytest.raises(InvalidBody) as refused:
            await rate(database, planner, platform="web")
        assert [(one.field, one.message) for one in refused.value.details] == [
            ("platform", "The app is not there. Send ios or android.")
        ]
        assert await rate(database, planner)

    async def test_a_removed_demo_rating_gives_its_day_back(self, database: Database, planner: UUID) -> None:
        await rate(database, planner)
        async with database.transaction() as db:
            await db.execute(update(AppRating).values(deleted_at=NOON))
            await ratings.recount(db)
        await rate(database, planner, 2)
        async with database.transaction() as db:
            assert (await ratings.figures(db)).mean == Decimal("2.00")


class TestWhatMayBeRated:
    @pytest.mark.parametrize("state", ["draft", "retired", "restricted", "deleted", "unknown"])
    async def test_only_a_published_app_that_is_not_restricted(
        self, database: Database, planner: UUID, state: str
    ) -> None:
        async with database.transaction() as db:
            values = {"deleted": {"deleted_at": NOON}, "restricted": {"admin_restricted": True}, "unknown": {}}
            change = values.get(state, {"status": state})
            if change:
                await db.execute(update(Application).values(**change))
            asked = uuid4() if state == "unknown" else planner
            with pytest.raises(AppNotFound):
                await ratings.submit(db, ADA, Rating(asked, 5, "ios"), NOON)
            assert len(await ratings.offered(db, ADA, NOON)) == (state == "unknown")
            assert await kept(db) == []

    async def test_what_is_offered_says_how_the_person_rated_today(self, database: Database, planner: UUID) -> None:
        async with database.transaction() as db:
            await publish_app(db, "Canteen", platforms=("web",))
            await add_app(db, "Draft")
        await rate(database, planner, 2)
        async with database.transaction() as db:
            today = await ratings.offered(db, ADA, NOON)
            assert [(row.name, row.platforms, row.rating_today) for row in today] == [
                ("Canteen", ["web"], None),
                ("Shift Planner", ["ios", "android"], 2),
            ]
            for user_id, now in ((ADA, NOON + timedelta(days=1)), (BEA, NOON)):
                assert [row.rating_today for row in await ratings.offered(db, user_id, now)] == [None, None]

    async def test_a_retirement_waits_for_a_rating_under_way(self, database: Database, planner: UUID) -> None:
        async with database.transaction() as db:
            await ratings.submit(db, ADA, Rating(planner, 5, "ios"), NOON)
            retiring = asyncio.create_task(_retire(database, planner))
            await asyncio.sleep(0.1)
            assert not retiring.done()
        await retiring
        with pytest.raises(AppNotFound):
            await rate(database, planner, user_id=BEA)


async def _retire(database: Database, planner: UUID) -> None:
    async with database.transaction() as db:
        await applications.retire(db, ALICE, [(await app_of(db, planner)).id])


class TestFigures:
    async def test_a_daily_rater_does_not_outvote_a_hundred_people(self, database: Database, planner: UUID) -> None:
        async with database.transaction() as db:
            other = await publish_app(db, "Canteen", platforms=("web",))
        for day in range(8):
            await rate(database, planner, 1, now=NOON + timedelta(days=day))
        await rate(database, planner, 5, user_id=BEA)
        await rate(database, planner, 4, user_id=CAI, platform="android")
        await rate(database, other, 5, user_id=CAI, platform="web")
        async with database.transaction() as db:
            all_apps = await ratings.figures(db)
        assert (all_apps.n, all_apps.mean) == (11, Decimal("2.00"))
        assert (all_apps.people, all_apps.latest_mean) == (4, Decimal("3.75"))
        assert all_apps.distribution == {5: 2, 4: 1, 3: 0, 2: 0, 1: 8}
        assert [(one.key, one.label, one.n, one.mean, one.people, one.latest_mean) for one in all_apps.by_app] == [
            (str(planner), "Shift Planner", 10, Decimal("1.70"), 3, Decimal("3.33")),
            (str(other), "Canteen", 1, Decimal("5.00"), 1, Decimal("5.00")),
        ]
        assert [(one.label, one.n, one.people) for one in all_apps.by_platform] == [
            ("iOS", 9, 2),
            ("Android", 1, 1),
            ("Web", 1, 1),
        ]

    async def test_without_ratings_there_is_no_mean(self, database: Database, planner: UUID) -> None:
        async with database.transaction() as db:
            nothing = await ratings.figures(db)
            assert [row.uid for row in await ratings.counts(db)] == [planner]
        assert (nothing.n, nothing.mean, nothing.latest_mean, nothing.people) == (0, None, None, 0)
        assert (nothing.by_app, nothing.by_platform) == ((), ())

    async def test_what_was_removed_is_in_no_figure_and_the_one_before_is_the_latest_again(
        self, database: Database, planner: UUID
    ) -> None:
        await rate(database, planner, 5)
        await rate(database, planner, 1, now=NOON + timedelta(days=1))
        async with database.transaction() as db:
            await db.execute(update(AppRating).where(AppRating.rating == 1).values(deleted_at=NOON, demo=True))
            await ratings.recount(db)
            left = await ratings.figures(db)
        assert (left.n, left.mean, left.people, left.latest_mean) == (1, Decimal("5.00"), 1, Decimal("5.00"))

    async def test_the_kept_counts_are_what_counting_again_gives(self, database: Database, planner: UUID) -> None:
        """Every order of a person's days, so that a server whose clock is behind changes nothing either."""
        async with database.transaction() as db:
            for number, days in enumerate(product(range(3), repeat=3)):
                for day, stars in zip(days, (1, 5, 5), strict=True):
                    platform = ("ios", "android")[day % 2]
                    now = NOON + timedelta(days=day)
                    try:
                        await ratings.submit(db, number, Rating(planner, stars, platform), now)
                    except AlreadyRated:
                        continue
            before = await _counts(db)
            await ratings.recount(db)
            assert before == await _counts(db)
            assert sum(latest for *_, latest in before) == 27

    async def test_one_select_gives_them_all(self, database: Database, planner: UUID, selects: list[str]) -> None:
        await rate(database, planner)
        async with database.transaction() as db:
            selects.clear()
            await ratings.figures(db)
        assert len(selects) == 1


async def _counts(db: AsyncSession) -> list[tuple[Any, ...]]:
    columns: tuple[Any, ...] = (
        AppRatingCount.platform,
        AppRatingCount.rating,
        AppRatingCount.number,
        AppRatingCount.latest,
    )
    rows = await db.execute(select(*columns).where(AppRatingCount.number > 0).order_by(*columns))
    return [tuple(row) for row in rows]


class TestNumbers:
    @pytest.mark.parametrize(
        ("total", "number", "shown"),
        [(33, 8, "4.13"), (9, 2, "4.50"), (2, 3, "0.67"), (5, 1, "5.00"), (1, 200, "0.01")],
    )
    def test_a_mean_has_two_places_half_up(self, total: int, number: int, shown: str) -> None:
        assert str(counting.mean(total, number)) == shown

    @pytest.mark.parametrize(
        ("part", "whole", "shown"), [(1, 3, "33.3"), (2, 3, "66.7"), (1, 16, "6.3"), (5, 5, "100.0"), (0, 4, "0.0")]
    )
    def test_a_percentage_has_one_place_half_up(self, part: int, whole: int, shown: str) -> None:
        assert str(counting.percent(part, whole)) == shown

    def test_of_nothing_there_is_no_figure(self) -> None:
        assert counting.mean(0, 0) is None
        assert counting.percent(0, 0) is None
