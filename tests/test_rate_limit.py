"""How often a program may call: what all processes together serve,
and how long one that asked too often is told to wait."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, insert, select, text

from app.accounts import housekeeping, rate_limit_rows, signing_in
from app.accounts.models import RequestBudget, User
from app.api import rate_limit
from app.api.rate_limit_rules import (
    LEASE_S,
    Ask,
    Bucket,
    Decision,
    Refuse,
    RequestLease,
    Serve,
    decided,
    granted,
    leased,
    wait_s,
)
from app.config import Settings
from app.db.session import Database
from app.errors import RateLimited
from app.parts import Parts, make_parts
from tests.cluster import DatabaseUrls
from tests.conftest import Browser
from tests.host.signing_in import PASSWORD, give_password

ME = "/v1/api/me/surveys"


@pytest.mark.parametrize(
    ("left", "per_minute", "seconds"),
    [(0.0, 60, 1), (0.5, 600, 1), (0.0, 40, 2), (0.1, 40, 2), (0.0, 7, 9), (0.9, 1, 6), (0.0, 1, 60)],
)
def test_the_wait_is_rounded_up(left: float, per_minute: int, seconds: int) -> None:
    assert wait_s(left, per_minute) == seconds


@given(st.floats(0, 0.999), st.integers(1, 10_000))
def test_after_the_wait_one_request_fits_again(left: float, per_minute: int) -> None:
    assert left + wait_s(left, per_minute) * per_minute / 60 >= 1 - 1e-9


FRESH = RequestLease()
HALF = RequestLease(left=4, taken=8, ends=105, asked=100, beyond=500)
GONE = replace(HALF, left=0)
EMPTY = RequestLease(left=0, taken=8, ends=105, asked=100, beyond=0.2)


@pytest.mark.parametrize(
    ("lease", "now", "decision"),
    [
        pytest.param(FRESH, 100, Ask(1, 0), id="the first request asks for itself"),
        pytest.param(HALF, 104.9, Serve(replace(HALF, left=3)), id="a lease serves without asking"),
        pytest.param(HALF, 105, Ask(4, 4), id="one that is over goes back, and as many as it served are taken"),
        pytest.param(HALF, 110, Ask(1, 4), id="one that is long over begins small again"),
        pytest.param(GONE, 101, Ask(16, 0), id="one that did not last is doubled"),
        pytest.param(replace(GONE, taken=28), 101, Ask(30, 0), id="up to a twentieth of a minute"),
        pytest.param(EMPTY, 100, Refuse(1), id="when the budget was empty the database is not asked"),
        pytest.param(EMPTY, 100.079, Refuse(1), id="until it holds a request again"),
        pytest.param(EMPTY, 100.081, Ask(16, 0), id="and then it is asked"),
    ],
)
def test_what_a_process_does_with_a_request(lease: RequestLease, now: float, decision: Decision) -> None:
    assert decided(lease, now, 600) == decision


BUDGETS = [
    pytest.param(None, 30, 0, (570, 30), id="a token that was not heard of has a full minute"),
    pytest.param(None, 700, 0, (0, 600), id="and no more"),
    pytest.param(Bucket(100, 10), 30, 0, (170, 30), id="ten more a second"),
    pytest.param(Bucket(595, 10), 30, 0, (570, 30), id="up to a minute's requests"),
    pytest.param(Bucket(595, 10), 30, 30, (570, 30), id="with what comes back too"),
    pytest.param(Bucket(-100, 10), 30, 20, (0.0, 20), id="what comes back counts"),
    pytest.param(Bucket(-99.5, 10), 30, 0, (0.5, 0), id="half a request is none"),
    pytest.param(Bucket(5, 9999), 30, 0, (0, 5), id="a clock that went back refills nothing"),
]


@pytest.mark.parametrize(("budget", "wanted", "returned", "expected"), BUDGETS)
def test_what_the_budget_gives(budget: Bucket | None, wanted: int, returned: int, expected: tuple[float, int]) -> None:
    after, number = granted(budget, 20, 600, wanted, returned)
    assert (after.left, number) == expected


@pytest.mark.parametrize(("budget", "wanted", "returned", "expected"), BUDGETS)
async def test_the_database_gives_the_same(
    database: Database, budget: Bucket | None, wanted: int, returned: int, expected: tuple[float, int]
) -> None:
    async with database.shared_transaction() as db:
        if budget:
            at = func.clock_timestamp() - timedelta(seconds=20 - budget.at)
            await db.execute(insert(RequestBudget).values(token_id=7, remaining=budget.left, granted=0, at=at))
        number, left = await rate_limit_rows.take(db, 7, 600, wanted, returned)
        stored = await db.scalar(select(RequestBudget.remaining))
    assert number == expected[1]
    assert left == stored == pytest.approx(expected[0], abs=0.9)


@dataclass
class Processes:
    """Some processes over one budget, each with a clock of its own."""

    per_minute: int
    offsets: list[float]
    now: float = 0.0
    budget: Bucket | None = None
    leases: dict[int, RequestLease] = field(default_factory=dict)
    served: list[float] = field(default_factory=list)

    def ask(self, process: int) -> bool:
        now = self.now + self.offsets[process]
        lease = self.leases.get(process, RequestLease())
        decision = decided(lease, now, self.per_minute)
        if isinstance(decision, Ask):
            self.budget, number = granted(self.budget, self.now, self.per_minute, decision.wanted, decision.returned)
            self.leases[process] = lease = leased(number, self.budget.left, now)
            decision = decided(lease, now, self.per_minute)
        if isinstance(decision, Serve):
            self.leases[process] = decision.lease
            self.served.append(self.now)
        return isinstance(decision, Serve)

    def most_over(self) -> float:
        """The most requests that any stretch of time served above what one bucket gives in it."""
        worst, lowest = 0.0, 0.0
        for number, at in enumerate(self.served):
            # Of the bucket's own law: served - rate * time, from the best moment to begin.
            surplus = number - at * self.per_minute / 60
            lowest = min(lowest, surplus)
            worst = max(worst, surplus + 1 - lowest)
        return worst - self.per_minute


@given(
    st.integers(1, 900),
    st.lists(st.floats(0, 1e6), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(1, 60), st.sampled_from([0.0, 0.0, 0.01, 0.3, 4.9, 5.1, 30.0]))),
)
def test_all_processes_together_never_serve_a_tenth_more(
    per_minute: int, offsets: list[float], steps: list[tuple[int, int, float]]
) -> None:
    processes = Processes(per_minute, offsets)
    for process, requests, pause_s in steps:
        for _ in range(requests):
            processes.ask(process % len(offsets))
        processes.now += pause_s
    assert processes.most_over() <= per_minute * LEASE_S / 60 + 1e-6
    assert LEASE_S / 60 < 0.1


def test_processes_that_hoard_and_then_serve_all_at_once_stay_below_a_tenth() -> None:
    """The worst that they can do: they hold full leases, the budget fills up again,
    and everything is asked for at once."""
    processes = Processes(600, [0.0, 0.0])
    for number in range(64):
        assert processes.ask(number % 2)
        processes.now += 0.1
    processes.now += LEASE_S - 0.3
    while processes.ask(0) or processes.ask(1):
        pass
    assert 30 < processes.most_over() <= 50


@given(st.integers(1, 900), st.lists(st.tuples(st.integers(1, 60), st.sampled_from([0.0, 0.01, 0.3, 4.9, 5.1, 30.0]))))
def test_one_process_alone_refuses_nothing_that_fits(per_minute: int, steps: list[tuple[int, float]]) -> None:
    processes, bucket = Processes(per_minute, [0.0]), float(per_minute)
    for requests, pause_s in steps:
        for _ in range(requests):
            if processes.ask(0):
                bucket -= 1
            else:
                assert bucket < 1 + 1e-6
        processes.now += pause_s
        bucket = min(per_minute, bucket + pause_s * per_minute / 60)


def test_a_program_that_keeps_to_its_limit_is_never_refused_however_its_calls_fall() -> None:
    processes = Processes(600, [0.0, 50.0, 7.0, 1e5])
    for number in range(3000):
        assert processes.ask(number % 4), f"request {number}"
        processes.now += 0.1


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, api_rate=40)


async def test_a_token_that_asks_too_often_is_told_when_to_come_back(visitor: Browser, token: Any) -> None:
    headers = {"Authorization": f"Bearer {await token('nora', 'me')}"}
    answers = [await visitor.get(ME, headers=headers) for _ in range(42)]
    assert [one.status_code for one in answers[:40]] == [200] * 40
    refused = next(one for one in answers if one.status_code == 429)
    assert refused.json()["error"]["code"] == "rate_limited"
    assert refused.headers["retry-after"] in ("1", "2")


Two = tuple[Database, Database]


@pytest.fixture
async def two(parts: Parts, urls: DatabaseUrls, settings: Settings) -> Any:
    """As two processes have them."""
    other = make_parts(settings, urls.app)
    yield parts.limits, other.limits
    await other.close()


async def took(database: Database, number: int, per_minute: int = 600) -> int:
    async def one() -> bool:
        try:
            await rate_limit.take(database, 7, per_minute)
        except RateLimited:
            return False
        return True

    return sum(await asyncio.gather(*(one() for _ in range(number))))


async def test_two_processes_share_the_budget_of_a_token(two: Two) -> None:
    started = datetime.now(UTC)
    served = sum(await asyncio.gather(*(took(one, 500) for one in two)))
    seconds = (datetime.now(UTC) - started).total_seconds()
    assert 570 <= served <= 660 + 10 * seconds


async def test_a_process_asks_the_database_once_for_many_requests(two: Two) -> None:
    mine, _ = two
    asked = 0

    async def counted(*values: Any, take: Callable[..., Any] = rate_limit_rows.take) -> Any:
        nonlocal asked
        asked += 1
        return await take(*values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rate_limit_rows, "take", counted)
        assert await took(mine, 300) == 300
    assert asked < 20


async def test_a_process_that_could_not_ask_holds_nothing_and_asks_again(two: Two) -> None:
    mine, _ = two
    with pytest.MonkeyPatch.context() as patch:

        async def broken(*_: Any) -> None:
            raise ConnectionError

        patch.setattr(rate_limit_rows, "take", broken)
        with pytest.raises(ConnectionError):
            await took(mine, 1)
    assert await took(mine, 1) == 1


async def test_counting_a_request_waits_for_no_disk(two: Two, database: Database) -> None:
    async with database.shared_transaction() as db:
        kept = await db.scalar(text("SELECT relpersistence::text FROM pg_class WHERE relname = 'request_budgets'"))
        keys = await db.scalar(
            text("SELECT count(*) FROM pg_constraint WHERE conrelid = to_regclass('request_budgets') AND contype = 'f'")
        )
    assert (kept, keys) == ("u", 0)


async def test_budgets_that_are_full_again_are_removed(two: Two, database: Database) -> None:
    await took(two[0], 1)
    async with database.shared_transaction() as db:
        await db.execute(
            insert(RequestBudget).values(
                token_id=8, remaining=0, granted=1, at=func.now() - housekeeping.BUDGETS_KEPT - timedelta(seconds=1)
            )
        )
    await housekeeping.tidy(database.shared_transaction)
    async with database.shared_transaction() as db:
        assert (await db.scalars(select(RequestBudget.token_id))).all() == [7]


async def test_failed_sign_ins_lock_an_account_for_all_processes(
    parts: Parts, urls: DatabaseUrls, database: Database
) -> None:
    await give_password(database, "bob")
    other = Database(urls.app)
    tried = signing_in.Attempt("bob@example.org", "not the password at all")
    outcomes = await asyncio.gather(
        *(signing_in.authenticate(one, parts.keys, tried) for one in (database, other) for _ in range(5)),
        return_exceptions=True,
    )
    assert {type(one) for one in outcomes} == {signing_in.SignInRefused}
    for one in (database, other):
        with pytest.raises(signing_in.SignInRefused):
            await signing_in.authenticate(one, parts.keys, replace(tried, password=PASSWORD))
    async with database.shared_transaction() as db:
        assert await db.scalar(select(User.failed_sign_ins).where(User.email == "bob@example.org")) == 5
    await other.close()
