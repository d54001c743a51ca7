"""One session an account: kept, shared, renewed in time, and asked for once however many want it."""

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.clock.profiles import CLOUD, ONPREM
from app.clock.remote import ClockError, ClockSession, Credentials
from app.clock.remote.session import life_of
from app.secrets import Secret
from tests.clock.remotes import NOW, PASSWORD, MemorySessionStore, rig, says_page, says_sign_in
from tests.fakes.liar import Heard, Liar, Writer, says_json


def session(token: str, *, begun: datetime = NOW, lasts: timedelta = timedelta(days=1)) -> ClockSession:
    return ClockSession(Secret(token), Secret(f"refresh-of-{token}"), begun, begun + lasts)


def jwt(**claims: Any) -> str:
    return "head." + base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode() + ".sign"


async def test_a_session_that_is_kept_needs_no_sign_in(liar: Liar) -> None:
    store = MemorySessionStore()
    store.session = session("kept-token-0009")
    made = rig(liar, CLOUD, store)
    made.says_punches(says_page(CLOUD, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
    assert [heard.path for heard in liar.heard] == [made.punches_path]
    assert liar.heard[0].headers["authorization"] == "JWT kept-token-0009"


@pytest.mark.parametrize(
    ("profile", "body"),
    [(CLOUD, {"refresh": "refresh-of-old-token-0001"}), (ONPREM, {"token": "old-token-0001"})],
    ids=["cloud", "onprem"],
)
async def test_a_session_near_its_end_is_renewed_before_the_call(
    liar: Liar, profile: Any, body: dict[str, str]
) -> None:
    store = MemorySessionStore()
    store.session = session("old-token-0001", begun=NOW - timedelta(hours=23, minutes=56))
    made = rig(liar, profile, store)
    made.says_punches(says_page(profile, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
    assert [heard.path for heard in liar.heard] == [profile.sign_in.refresh_path, made.punches_path]
    assert liar.heard[0].said == body
    assert store.session is not None
    assert store.session.access == Secret("second-token-0002")


async def test_a_refresh_that_brings_no_new_refresh_token_keeps_the_old_one(liar: Liar) -> None:
    store = MemorySessionStore()
    store.session = session("old-token-0001", begun=NOW - timedelta(days=2))
    made = rig(liar, CLOUD, store)
    liar.says(CLOUD.sign_in.refresh_path, says_json({"code": "ZBSY0000", "data": {"access": "new-token-0002"}}))
    async with made.outbound:
        await made.clock.renew()
    assert store.session is not None
    assert store.session.refresh == Secret("refresh-of-old-token-0001")


async def test_twenty_calls_at_once_sign_in_once(liar: Liar) -> None:
    made = rig(liar, CLOUD)

    async def slowly(heard: Heard, writer: Writer) -> None:
        await asyncio.sleep(0.05)
        writer.write(says_sign_in(CLOUD, "only-token-0001"))

    liar.says(CLOUD.sign_in.path, slowly)
    made.says_punches(says_page(CLOUD, []))
    async with made.outbound:
        await asyncio.gather(*(made.clock.fetch_page("transactions", page, 50) for page in range(1, 21)))
    assert len(liar.asked(CLOUD.sign_in.path)) == 1


async def test_two_workers_whose_token_died_renew_once(liar: Liar) -> None:
    store = MemorySessionStore()
    store.session = session("dead-token-0001")
    one, two = rig(liar, CLOUD, store), rig(liar, CLOUD, store)

    def judge(heard: Heard) -> bytes:
        dead = heard.headers["authorization"] == "JWT dead-token-0001"
        return says_json({"code": "ZBSY0002"}, status=401) if dead else says_page(CLOUD, [{"id": "a"}])

    one.says_punches(judge)
    async with one.outbound, two.outbound:
        pages = await asyncio.gather(
            *(made.clock.fetch_page("transactions", page, 50) for made in (one, two) for page in range(1, 6))
        )
    assert all(page.rows == [{"id": "a"}] for page in pages)
    assert len(liar.asked(CLOUD.sign_in.refresh_path)) == 1
    assert liar.asked(CLOUD.sign_in.path) == []


async def test_a_parallel_sign_in_elsewhere_costs_one_renewal(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    made.says_punches(
        says_page(CLOUD, []), says_json({"code": "ZBSY0002"}, status=401), says_page(CLOUD, [{"id": "b"}])
    )
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
        assert (await made.clock.fetch_page("transactions", 2, 50)).rows == [{"id": "b"}]


async def test_a_lock_refuses_before_the_password_goes_out(liar: Liar) -> None:
    class Locked(MemorySessionStore):
        async def before_sign_in(self) -> None:
            raise ClockError("TC-LOCKED", "Locked until somebody retries.")

    made = rig(liar, CLOUD, Locked())
    async with made.outbound:
        with pytest.raises(ClockError) as caught:
            await made.clock.fetch_page("transactions", 1, 50)
    assert caught.value.code == "TC-LOCKED"
    assert liar.connections == 0


async def test_a_wrong_password_tried_by_many_at_once_is_sent_no_oftener_than_the_lock_lets_it(liar: Liar) -> None:
    class FiveTries(MemorySessionStore):
        async def before_sign_in(self) -> None:
            if self.rejections >= 5:
                raise ClockError("TC-LOCKED", "Locked.")

    store = FiveTries()
    made = rig(liar, CLOUD, store)
    liar.says(CLOUD.sign_in.path, says_json({"code": "ZBSY0011"}, status=401))
    async with made.outbound:
        ended = await asyncio.gather(
            *(made.clock.fetch_page("transactions", 1, 50) for _ in range(12)), return_exceptions=True
        )
    assert sorted(error.code for error in ended if isinstance(error, ClockError)) == ["TC-AUTH"] * 5 + ["TC-LOCKED"] * 7
    assert len(liar.heard) == 5


@pytest.mark.parametrize(
    ("access", "said_s", "said_end", "life_s"),
    [
        ("opaque", 3600, None, 3600),
        ("opaque", "3600", None, 3600),
        ("opaque", None, NOW.timestamp() + 900, 900),
        ("opaque", None, (NOW.timestamp() + 900) * 1000, 900),
        ("opaque", None, "soon", 82800),
        ("opaque", None, None, 82800),
        ("opaque", -5, None, 82800),
        ("opaque", True, None, 82800),
        ("opaque", 10**30, None, 82800),
        ("opaque", 1, None, 60),
        ("a.b.c", None, None, 82800),
        (jwt(exp=NOW.timestamp() + 500), None, None, 500),
        (jwt(iat=1000, exp=1700), None, None, 700),
        (jwt(exp="soon"), None, None, 82800),
        (jwt(exp=5), None, None, 60),
        (jwt(iat=1000, exp=1700), 120, None, 120),
    ],
)
def test_the_life_of_a_token_is_what_is_said_else_in_it_else_the_usual(
    access: str, said_s: Any, said_end: Any, life_s: float
) -> None:
    assert life_of(access, said_s, said_end, NOW, 82800) == timedelta(seconds=life_s)


def test_a_session_is_due_before_it_ends() -> None:
    long, short = session("t", lasts=timedelta(days=1)), session("t", lasts=timedelta(seconds=100))
    assert not long.due(NOW + timedelta(hours=23, minutes=54))
    assert long.due(NOW + timedelta(hours=23, minutes=55))
    assert not short.due(NOW + timedelta(seconds=89))
    assert short.due(NOW + timedelta(seconds=90))


def test_a_session_is_kept_as_text_and_read_back() -> None:
    kept = session("a-token")
    assert ClockSession.from_text(kept.to_text()) == kept
    alone = ClockSession(Secret("a"), None, NOW, NOW)
    assert ClockSession.from_text(alone.to_text()) == alone
    for broken in ("", "{}", "null", '{"access":1}'):
        assert ClockSession.from_text(Secret(broken)) is None


def test_nothing_of_a_session_or_a_credential_shows() -> None:
    assert "a-token" not in repr(session("a-token"))
    assert PASSWORD not in repr(Credentials("operator", Secret(PASSWORD)))
    assert session("t").issued_at.tzinfo is UTC


@pytest.mark.parametrize("name", ["access", "access_token", "accessToken", "token"])
async def test_the_token_is_found_under_each_of_its_names(liar: Liar, name: str) -> None:
    made = rig(liar, CLOUD)
    liar.says(CLOUD.sign_in.path, says_json({"code": "ZBSY0000", "data": {name: "named-token-0001"}}))
    made.says_punches(says_page(CLOUD, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
    assert liar.heard[-1].headers["authorization"] == "JWT named-token-0001"
