"""The client and the parser against the bundled server, which was written without looking at them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from app.clock.parsing import ParsedPunch, Parser
from app.clock.profiles import PROFILES
from app.clock.remote import ClockError, Credentials, RemoteClock
from app.outbound import AddressPolicy, CallRecord, Limits, OutboundClient, parse_allow_list
from app.secrets import Secret
from app.simulator import PASSWORD, USERNAME, Simulator, create_simulator, serving
from tests.clock.remotes import MANILA, MemorySessionStore
from tests.simulator.worlds import fresh_world

NOW = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
START, END = datetime(2026, 11, 1), datetime(2026, 11, 22)
LIMITS = Limits(connect_s=5, call_s=5, body_bytes=2 * 1024 * 1024, attempts=2, pause_s=0.001)


class Stand:
    """A client pointed at a simulator, with what was logged."""

    def __init__(self, simulator: Simulator, clock: RemoteClock, records: list[CallRecord]) -> None:
        self.simulator = simulator
        self.clock = clock
        self.records = records
        self.parser = Parser(clock.profile, MANILA, clock.redactor)

    async def walk(self, resource: str, size: int = 200, **window: datetime) -> list[Any]:
        rows: list[Any] = []
        for number in range(1, 200):
            page = await self.clock.fetch_page(resource, number, size, **window)
            rows += page.rows
            if not page.more_after(len(rows)):
                return rows
        raise AssertionError("the walk does not end")

    async def punches(self) -> list[ParsedPunch]:
        parsed = self.parser.punches(await self.walk("transactions", start=START, end=END))
        assert parsed.set_aside == []
        return parsed.rows


@asynccontextmanager
async def standing(
    profile: str, *faults: str, limits: Limits = LIMITS, password: str = PASSWORD
) -> AsyncIterator[Stand]:
    world = fresh_world(7, 30, 12, 6, NOW, "Asia/Manila")
    simulator = create_simulator(world, profile, faults)
    records: list[CallRecord] = []

    async def log(record: CallRecord) -> None:
        records.append(record)

    async with (
        serving(simulator) as url,
        OutboundClient(AddressPolicy(parse_allow_list("127.0.0.1")), limits=limits) as outbound,
    ):
        credentials = Credentials(USERNAME, Secret(password))
        clock = RemoteClock(
            PROFILES[profile], url, MANILA, credentials, outbound=outbound, session_store=MemorySessionStore(), log=log
        )
        yield Stand(simulator, clock, records)


BOTH = pytest.mark.parametrize("profile", ["cloud", "onprem"])


@BOTH
async def test_every_resource_is_walked_and_read_whole(profile: str) -> None:
    async with standing(profile) as stand:
        for resource in stand.clock.profile.resources:
            rows = await stand.walk(resource, 7 if resource != "transactions" else 500)
            read = {
                "employees": stand.parser.employees, "devices": stand.parser.devices, "transactions": stand.parser.punches,
            }.get(resource) or (lambda rows, resource=resource: stand.parser.units(resource, rows))  # fmt: skip
            parsed = read(rows)
            assert parsed.set_aside == []
            assert len({row.remote_id for row in parsed.rows}) == len(rows) == await stand.clock.count(resource) > 0


@BOTH
async def test_punches_are_the_same_instants_however_they_are_written(profile: str) -> None:
    async with standing(profile) as plain:
        truth = {(punch.remote_id, punch.punched_at_utc, punch.emp_code) for punch in await plain.punches()}
    assert len(truth) > 500
    for style in (
        "trailing_space_dates",
        "us_dates",
        "iso_offset_dates",
        "text_verify",
        "page_cap_50",
        "results_envelope",
        "next_null",
        "ninth_generation",
    ):
        if style == "results_envelope" and profile == "cloud":
            continue
        async with standing(profile, style) as stand:
            assert {
                (punch.remote_id, punch.punched_at_utc, punch.emp_code) for punch in await stand.punches()
            } == truth, style


@BOTH
@pytest.mark.parametrize(
    "fault",
    [
        "token_dies=2",
        "parallel_signin=2",
        "body_401,times=1",
        "opaque_token",
        "no_expires_in",
        "token_name=accessToken",
        "reset,times=1",
        "cut_body,times=1",
        "http_500=1",
    ],
)
async def test_a_walk_survives_what_passes(profile: str, fault: str) -> None:
    async with standing(profile, fault) as stand:
        rows = await stand.walk("employees", 5)
        assert len(rows) == 30


@BOTH
async def test_a_dead_token_that_looks_like_a_fault_ends_one_call_and_not_the_day(profile: str) -> None:
    async with standing(profile, "auth_401_as_500", "token_dies=2,times=3") as stand:
        await stand.clock.count("employees")
        await stand.clock.count("employees")
        with pytest.raises(ClockError) as caught:
            await stand.clock.count("employees")
        assert caught.value.code == "TC-REMOTE"
        assert await stand.clock.count("employees") == 30


@BOTH
async def test_a_dead_token_whose_fault_names_it_costs_no_call(profile: str) -> None:
    async with standing(profile, "expired_as_500", "token_dies=2,times=3") as stand:
        for _ in range(4):
            assert await stand.clock.count("employees") == 30


async def test_a_session_that_cannot_be_refreshed_is_begun_again() -> None:
    async with standing("cloud", "token_dies=2", "refresh_refused") as stand:
        assert len(await stand.walk("employees", 5)) == 30
    paths = Counter(record.path for record in stand.records)
    assert paths["/web/oauth/api/v2/user_sign_in/"] > 2


@BOTH
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("signin_400", "TC-AUTH"), ("signin_401", "TC-AUTH"), ("signin_403", "TC-AUTH"), ("signin_code", "TC-AUTH"),
        ("signin_no_token", "TC-SHAPE"), ("token_refused", "TC-TOKEN"), ("body_401", "TC-TOKEN"),
        ("http_500", "TC-REMOTE"), ("http_400", "TC-REMOTE"), ("body_code_failure", "TC-REMOTE"), ("licence_403", "TC-REMOTE"),
        ("nginx_405", "TC-REMOTE"), ("http_429", "TC-RATE"), ("http_429=none", "TC-RATE"), ("http_503_retry_after", "TC-RATE"),
        ("redirect", "TC-SHAPE"), ("redirect,at=sign_in", "TC-SHAPE"), ("html_200", "TC-SHAPE"), ("spa_shell", "TC-SHAPE"),
        ("http_204", "TC-SHAPE"), ("not_json", "TC-SHAPE"), ("wrong_content_type", "TC-SHAPE"), ("nan", "TC-SHAPE"),
        ("duplicate_keys", "TC-SHAPE"), ("invalid_utf8", "TC-SHAPE"), ("lone_surrogate", "TC-SHAPE"), ("missing_list", "TC-SHAPE"),
        ("wrong_types", "TC-SHAPE"), ("deep_json", "TC-SHAPE"), ("gzip_bomb=20", "TC-SHAPE"), ("oversize=4", "TC-SHAPE"),
        ("drip", "TC-NET"), ("slow=2", "TC-NET"), ("reset", "TC-NET"), ("cut_body", "TC-NET"), ("cut_chunks", "TC-NET"),
        ("broken_chunking", "TC-NET"), ("cut_gzip", "TC-NET"), ("broken_gzip", "TC-NET"),
    ],
)  # fmt: skip
async def test_every_fault_has_its_code(profile: str, fault: str, code: str) -> None:
    limits = Limits(connect_s=2, call_s=0.3, attempts=1) if fault in ("drip", "slow=2") else LIMITS
    async with standing(profile, fault, limits=limits) as stand:
        with pytest.raises(ClockError) as caught:
            await stand.clock.fetch_page("transactions", 1, 50)
    assert caught.value.code == code, caught.value
    assert stand.records[-1].tc_code == code
    for record in stand.records:
        assert PASSWORD not in repr(record)


@BOTH
async def test_a_wrong_password_is_auth(profile: str) -> None:
    async with standing(profile, password="not-the-password") as stand:
        with pytest.raises(ClockError) as caught:
            await stand.clock.sign_in()
    assert caught.value.code == "TC-AUTH"


@BOTH
@pytest.mark.parametrize("shape", ["time", "code", "shape"])
async def test_one_unusable_row_is_set_aside_and_the_rest_is_read(profile: str, shape: str) -> None:
    async with standing(profile, f"bad_row={shape}") as stand:
        page = await stand.clock.fetch_page("transactions", 1, 50)
        parsed = stand.parser.punches(page.rows)
    assert (len(parsed.rows), len(parsed.set_aside)) == (49, 1)
    assert parsed.set_aside[0].reason


@BOTH
async def test_a_repeated_page_is_noticed(profile: str) -> None:
    async with standing(profile, "page_repeats") as stand:
        first = await stand.clock.fetch_page("employees", 1, 5)
        second = await stand.clock.fetch_page("employees", 2, 5)
    assert second.repeats(first.digest)


async def test_a_page_beyond_the_last_is_no_failure() -> None:
    async with standing("onprem", "page_beyond_404") as stand:
        page = await stand.clock.fetch_page("employees", 99, 50)
        assert (page.rows, page.more_after(30)) == ([], False)


async def test_schedules_of_a_person_and_week_are_read() -> None:
    async with standing("cloud") as stand:
        code = stand.parser.employees(await stand.walk("employees")).rows[0].emp_code
        rows = await stand.clock.schedules(code, date(2026, 11, 16), date(2026, 11, 22))
        parsed = stand.parser.shifts(rows)
    assert parsed.set_aside == []
    assert all(date(2026, 11, 16) <= shift.day <= date(2026, 11, 22) for shift in parsed.rows)
    assert parsed.rows
    assert all(shift.starts_at is not None and shift.ends_at is not None for shift in parsed.rows)


@BOTH
async def test_pictures_of_people_and_punches_are_fetched(profile: str) -> None:
    async with standing(profile) as stand:
        person = stand.parser.employees(await stand.walk("employees")).rows[0]
        captured = next(punch for punch in await stand.punches() if punch.photo_ref)
        assert person.photo_ref is not None
        assert captured.photo_ref is not None
        for reference in (person.photo_ref, captured.photo_ref):
            photo = await stand.clock.photo(reference)
            assert photo.media_type == "image/png"
        assert captured.temperature is not None


@BOTH
async def test_two_clients_with_one_store_share_the_one_session(profile: str) -> None:
    async with standing(profile) as stand:
        await asyncio.gather(*(stand.walk("employees", 5) for _ in range(4)))
        signed_in = [record for record in stand.records if record.path == stand.clock.profile.sign_in.path]
    assert len(signed_in) == 1


async def test_the_whole_history_has_one_day_more_than_it_needs_at_either_end() -> None:
    async with standing("cloud", "filter_utc") as stand:
        day = datetime(2026, 11, 12)
        padded = stand.parser.punches(
            await stand.walk("transactions", start=day - timedelta(days=1), end=day + timedelta(days=2))
        ).rows
        seen = {punch.remote_id for punch in padded if punch.punched_at_local.date() == day.date()}
    async with standing("cloud") as stand:
        truth = {punch.remote_id for punch in await stand.punches() if punch.punched_at_local.date() == day.date()}
    assert seen == truth
