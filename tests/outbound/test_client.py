"""The outbound client on real sockets: what is dialled, how long it waits, how much it takes, what it tells the log."""

import asyncio
import gzip
import ssl
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import pytest

from app.outbound import (
    AddressPolicy,
    Call,
    CallRecord,
    Limits,
    OutboundClient,
    OutboundError,
    OutboundReply,
    Redactor,
    parse_allow_list,
)
from tests.fakes.certificates import certify
from tests.fakes.liar import Heard, Liar, Writer, answer, drips, hangs_up, lying, says_json, says_nothing, then_closes

QUICK = Limits(connect_s=5, call_s=5, body_bytes=100_000, attempts=3, pause_s=0.001)
HELLO = b'{"hello":"there"}'


class Desk:
    """A client with a log to look into."""

    def __init__(self, allow: str, limits: Limits = QUICK, **options: Any) -> None:
        self.client = OutboundClient(AddressPolicy(parse_allow_list(allow)), limits=limits, **options)
        self.records: list[CallRecord] = []

    async def log(self, record: CallRecord) -> None:
        self.records.append(record)

    async def get(
        self, base_url: str, path: str = "/x/", redactor: Redactor | None = None, **more: Any
    ) -> OutboundReply:
        return await self.client.call(
            Call("GET", base_url, path, **more), lambda reply: reply, redactor=redactor or Redactor(), log=self.log
        )


@pytest.fixture
async def liar() -> AsyncIterator[Liar]:
    async with lying() as liar:
        liar.says("/x/", answer(HELLO))
        yield liar


@pytest.fixture
async def desk(liar: Liar) -> AsyncIterator[Desk]:
    desk = Desk(liar.allowed)
    async with desk.client:
        yield desk


async def refused(asking: Awaitable[Any]) -> OutboundError:
    with pytest.raises(OutboundError) as caught:
        await asking
    return caught.value


def resolving(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


# What is dialled.


async def test_a_forbidden_address_is_never_dialled(liar: Liar) -> None:
    desk = Desk("")
    async with desk.client:
        error = await refused(desk.get(liar.url))
    assert (error.code, error.retryable) == ("TC-POLICY", False)
    assert "127.0.0.1" in error.message
    assert (liar.connections, [record.tc_code for record in desk.records]) == (0, ["TC-POLICY"])


async def test_the_port_counts_too(liar: Liar) -> None:
    desk = Desk(f"127.0.0.1/32:{liar.port + 1}")
    async with desk.client:
        assert (await refused(desk.get(liar.url))).code == "TC-POLICY"


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "localhost", "0"])
async def test_no_way_of_writing_loopback_gets_round_the_policy(liar: Liar, host: str) -> None:
    desk = Desk("")
    async with desk.client:
        error = await refused(desk.get(f"http://{host}:{liar.port}"))
    assert error.code in ("TC-POLICY", "TC-NET")
    assert liar.connections == 0


async def test_one_forbidden_address_among_good_ones_refuses_the_name(liar: Liar) -> None:
    desk = Desk(liar.allowed, resolve=resolving("127.0.0.1", "169.254.169.254"))
    async with desk.client:
        error = await refused(desk.get(f"http://clock.test:{liar.port}"))
    assert error.code == "TC-POLICY"
    assert "169.254.169.254" in error.message
    assert liar.connections == 0


async def test_a_name_that_changes_its_address_gains_nothing(liar: Liar) -> None:
    answers = ["127.0.0.1", "10.0.0.1", "10.0.0.1"]
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return [answers[len(asked) - 1]]

    liar.says("/x/", answer(HELLO, headers=(("Connection", "close"),)))
    desk = Desk(liar.allowed, resolve=rebinding)
    async with desk.client:
        await desk.get(f"http://clock.test:{liar.port}")
        assert asked == ["clock.test"]  # looked up once: what was judged is what was dialled
        error = await refused(desk.get(f"http://clock.test:{liar.port}"))
    assert error.code == "TC-POLICY"
    assert liar.heard[0].headers["host"] == f"clock.test:{liar.port}"


async def test_the_next_address_is_tried_when_one_is_dead(liar: Liar) -> None:
    desk = Desk(f"{liar.allowed},127.0.0.2/32", resolve=resolving("127.0.0.2", "127.0.0.1"))
    async with desk.client:
        assert (await desk.get(f"http://clock.test:{liar.port}")).body == HELLO


async def test_proxies_of_the_environment_are_not_asked(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    desk = Desk(liar.allowed)
    async with desk.client:
        assert (await desk.get(liar.url)).body == HELLO


# Names, connections and TLS.


async def test_an_unknown_name_is_tried_three_times() -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    desk = Desk("", resolve=nowhere)
    async with desk.client:
        error = await refused(desk.get("http://clock.test"))
    assert (error.code, len(desk.records)) == ("TC-NET", 3)
    assert "Name or service not known" in error.message


async def test_a_refused_connection_says_so() -> None:
    async with lying() as gone:
        url, allowed = gone.url, gone.allowed
    desk = Desk(allowed)
    async with desk.client:
        error = await refused(desk.get(url))
    assert (error.code, len(desk.records)) == ("TC-NET", 3)
    assert "refused" in error.message or "connect" in error.message


async def test_a_slow_name_server_is_not_waited_for() -> None:
    async def slow(host: str, port: int) -> list[str]:
        await asyncio.sleep(30)
        return []

    desk = Desk("", limits=Limits(connect_s=0.1, attempts=1), resolve=slow)
    async with desk.client:
        error = await refused(desk.get("http://clock.test"))
    assert (error.code, "no connection in time" in error.message) == ("TC-NET", True)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for clock.test that signs itself."""
    made = certify("clock.test", addresses=("192.0.2.1",))
    path = tmp_path_factory.mktemp("tls") / "clock.pem"
    path.write_bytes(made.key + made.certificate)
    return path


@pytest.fixture
async def secure(certificate: Path) -> AsyncIterator[Liar]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with lying(context) as liar:
        liar.says("/x/", answer(HELLO))
        yield liar


async def test_tls_verifies_the_name_though_the_address_is_dialled(secure: Liar, certificate: Path) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    desk = Desk(secure.allowed, resolve=resolving("127.0.0.1"), certificates=trusting)
    async with desk.client:
        assert (await desk.get(f"https://clock.test:{secure.port}")).body == HELLO
        error = await refused(desk.get(f"https://other.test:{secure.port}"))
        steps = [step async for step in desk.client.probe(f"https://clock.test:{secure.port}")]
    assert error.code == "TC-NET"
    assert "certificate" in error.message
    assert [step.name for step in steps] == ["resolve", "connect", "tls"]
    assert steps[0].detail == "clock.test is 127.0.0.1."
    assert steps[2].detail.startswith("TLSv1.3")


async def test_an_untrusted_certificate_is_refused_with_its_reason(secure: Liar) -> None:
    desk = Desk(secure.allowed, resolve=resolving("127.0.0.1"))
    async with desk.client:
        error = await refused(desk.get(f"https://clock.test:{secure.port}"))
    assert error.code == "TC-NET"
    assert "self-signed certificate" in error.message
    assert secure.heard == []


async def test_a_server_that_speaks_no_tls_is_a_network_failure(liar: Liar) -> None:
    desk = Desk(liar.allowed, limits=Limits(connect_s=0.3, attempts=1))
    async with desk.client:
        assert (await refused(desk.get(f"https://127.0.0.1:{liar.port}"))).code == "TC-NET"


# Waiting.


@pytest.mark.parametrize("speech", [says_nothing, drips(HELLO * 50, 0.05)], ids=["silent", "dripping"])
async def test_the_deadline_is_for_the_whole_call_not_for_each_read(liar: Liar, speech: Any) -> None:
    desk = Desk(liar.allowed, limits=Limits(connect_s=2, call_s=0.3, attempts=1))
    liar.says("/x/", speech)
    started = perf_counter()
    async with desk.client:
        error = await refused(desk.get(liar.url))
    assert 0.25 < perf_counter() - started < 5
    assert (error.code, error.retryable) == ("TC-NET", True)
    assert "0.3 s" in error.message


async def test_a_slow_connection_does_not_eat_into_the_call(liar: Liar) -> None:
    async def slowly(host: str, port: int) -> list[str]:
        await asyncio.sleep(0.25)
        return ["127.0.0.1"]

    async def late(heard: Heard, writer: Writer) -> None:
        await asyncio.sleep(0.25)
        writer.write(answer(HELLO))

    liar.says("/x/", late)
    desk = Desk(liar.allowed, limits=Limits(connect_s=0.4, call_s=0.4, attempts=1), resolve=slowly)
    async with desk.client:
        assert (await desk.get(f"http://clock.test:{liar.port}")).body == HELLO


async def test_the_connection_of_a_call_that_ran_out_of_time_is_not_used_again(liar: Liar) -> None:
    desk = Desk(liar.allowed, limits=Limits(connect_s=1, call_s=0.2, attempts=2, pause_s=0.001))
    liar.says("/x/", drips(HELLO, 0.1), answer(HELLO))
    async with desk.client:
        assert (await desk.get(liar.url)).body == HELLO
    assert liar.connections == 2


# Broken answers.


@pytest.mark.parametrize(
    "speech",
    [
        hangs_up,
        then_closes(answer(HELLO, length=500)),
        then_closes(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"
        ),
        then_closes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        then_closes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n"),
        then_closes(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
        then_closes(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 60_000 + b"\r\n"),
        then_closes(answer(gzip.compress(HELLO * 100)[:-12], headers=(("Content-Encoding", "gzip"),))),
        then_closes(answer(b"not gzip at all", headers=(("Content-Encoding", "gzip"),))),
        then_closes(answer(gzip.compress(HELLO)[:-8] + b"12345678", headers=(("Content-Encoding", "gzip"),))),
    ],
    ids=[
        "hung up",
        "cut",
        "two lengths",
        "cut chunks",
        "bad chunk",
        "no http",
        "endless headers",
        "cut gzip",
        "no gzip",
        "bad sum",
    ],
)
async def test_what_the_line_broke_is_tried_three_times(liar: Liar, desk: Desk, speech: Any) -> None:
    liar.says("/x/", speech)
    error = await refused(desk.get(liar.url))
    assert error.code == "TC-NET"
    assert [record.tc_code for record in desk.records] == ["TC-NET"] * 3
    assert len(liar.heard) == 3


async def test_a_broken_answer_is_forgotten_when_the_next_one_is_whole(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", hangs_up, then_closes(answer(HELLO, length=900)), answer(HELLO))
    assert (await desk.get(liar.url)).body == HELLO
    assert [record.tc_code for record in desk.records] == ["TC-NET", "TC-NET", None]


@pytest.mark.parametrize(
    ("speech", "code", "retryable"),
    [
        (then_closes(b'HTTP/1.1 200 OK\r\n\r\n{"data":[{"id":1'), "TC-NET", True),
        (answer(b'{"data":[{"id":1'), "TC-SHAPE", False),
        (
            then_closes(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"data":[{"id":1\r\n0\r\n\r\n'),
            "TC-SHAPE",
            False,
        ),
    ],
    ids=["no end but the connection's", "with a length", "in chunks"],
)
async def test_json_cut_by_a_closing_connection_is_a_network_failure(
    liar: Liar, desk: Desk, speech: Any, code: str, retryable: bool
) -> None:
    liar.says("/x/", speech)
    reply = await desk.get(liar.url)
    with pytest.raises(OutboundError) as caught:
        reply.json()
    assert (caught.value.code, caught.value.retryable) == (code, retryable)


# Size.


async def test_a_body_over_the_cap_is_refused_before_it_is_read(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", then_closes(answer(b"x", length=100_001)))
    error = await refused(desk.get(liar.url))
    assert (error.code, error.retryable, len(liar.heard)) == ("TC-SHAPE", False, 1)
    assert "larger than 97 KiB" in error.message
    liar.says("/x/", answer(b"x" * 100_000))
    assert len((await desk.get(liar.url)).body) == 100_000


async def test_a_body_without_a_length_is_cut_at_the_cap(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", then_closes(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000))
    assert (await refused(desk.get(liar.url))).code == "TC-SHAPE"


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
async def test_a_bomb_never_unfolds(liar: Liar, desk: Desk, packing: str) -> None:
    zeros = bytes(60_000_000)
    bomb = gzip.compress(zeros, 6) if packing == "gzip" else zlib.compress(zeros, 6)
    liar.says("/x/", answer(bomb, headers=(("Content-Encoding", packing),)))
    del zeros
    tracemalloc.start()
    try:
        error = await refused(desk.get(liar.url))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert error.code == "TC-SHAPE"


@pytest.mark.parametrize("packing", ["gzip", "x-gzip", "deflate", "identity", "GZIP"])
async def test_packed_answers_are_unpacked(liar: Liar, desk: Desk, packing: str) -> None:
    pack = {"deflate": zlib.compress, "identity": bytes}.get(packing, gzip.compress)
    body = Random(1).randbytes(20_000) * 2  # it repeats itself as far back as packing may look
    liar.says("/x/", answer(pack(body), headers=(("Content-Encoding", packing),)))
    assert (await desk.get(liar.url)).body == body


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
async def test_an_empty_answer_is_whole_however_it_says_it_is_packed(liar: Liar, desk: Desk, packing: str) -> None:
    liar.says("/x/", answer(b"", headers=(("Content-Encoding", packing),)))
    assert (await desk.get(liar.url)).body == b""


async def test_gzip_in_two_members_is_one_answer(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", answer(gzip.compress(HELLO) + gzip.compress(HELLO), headers=(("Content-Encoding", "gzip"),)))
    assert (await desk.get(liar.url)).body == HELLO * 2


async def test_a_packing_that_was_not_asked_for_is_refused(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", answer(b"??", headers=(("Content-Encoding", "br"),)))
    error = await refused(desk.get(liar.url))
    assert (error.code, "'br'" in error.message) == ("TC-SHAPE", True)


async def test_gzip_is_asked_for_only_by_those_who_need_it(liar: Liar, desk: Desk) -> None:
    await desk.get(liar.url)
    await desk.get(liar.url, gzip=True)
    assert [heard.headers["accept-encoding"] for heard in liar.heard] == ["identity", "gzip"]


# Redirects, and what is kept of a call.


async def test_a_redirect_is_handed_over_and_never_followed(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", answer(b"", status=302, headers=(("Location", "http://[bad"),)))
    liar.says("/y/", answer(HELLO))
    reply = await desk.get(liar.url)
    assert reply.status == 302
    assert [heard.path for heard in liar.heard] == ["/x/"]


async def test_each_attempt_is_one_record(liar: Liar, desk: Desk) -> None:
    await desk.get(liar.url, query=(("page", "1"), ("token", "abcdefgh")), redactor=Redactor(["there"]))
    (record,) = desk.records
    assert (record.method, record.host, record.path) == ("GET", f"127.0.0.1:{liar.port}", "/x/")
    assert record.query == "page=1&token=[redacted]"
    assert (record.http_status, record.tc_code, record.bytes) == (200, None, len(HELLO))
    assert record.excerpt == '{"hello":"[redacted]"}'
    assert record.started_at.tzinfo is UTC
    assert record.duration_ms >= 0


async def test_the_judge_s_verdict_is_in_the_record(liar: Liar, desk: Desk) -> None:
    def judge(reply: OutboundReply) -> None:
        reply.body_code = "ZBSY0009"
        raise OutboundError("TC-REMOTE", "said: hunter22222")

    with pytest.raises(OutboundError) as caught:
        await desk.client.call(Call("GET", liar.url, "/x/"), judge, redactor=Redactor(["hunter22222"]), log=desk.log)
    (record,) = desk.records
    assert (record.tc_code, record.body_code, record.excerpt) == ("TC-REMOTE", "ZBSY0009", HELLO.decode())
    assert (caught.value.message, caught.value.excerpt, caught.value.status) == (
        "said: [redacted]",
        HELLO.decode(),
        200,
    )


async def test_a_call_shows_no_secret_when_printed() -> None:
    call = Call("POST", "http://h", "/", body={"password": "hunter2"}, headers={"Authorization": "JWT abc"})
    assert "hunter2" not in repr(call)
    assert "abc" not in repr(call)


async def test_twenty_calls_at_once_share_the_client(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", says_json({"ok": True}))
    replies = await asyncio.gather(*(desk.get(liar.url) for _ in range(20)))
    assert all(reply.json() == {"ok": True} for reply in replies)


async def test_a_cancelled_call_leaves_the_client_usable(liar: Liar, desk: Desk) -> None:
    liar.says("/x/", says_nothing, answer(HELLO))
    task = asyncio.create_task(desk.get(liar.url))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.get(liar.url)).body == HELLO
