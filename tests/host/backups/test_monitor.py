"""The outside monitor hears of each good sweep, once, and what stands in its address reaches no log."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from app.config import ConfigError, read_settings
from app.host import jobs as host_jobs
from app.host.backups import monitor
from app.jobs import Claim
from app.parts import Parts
from app.problems import looking
from tests.conftest import Browser
from tests.fakes.liar import Liar, Speech, answer, hangs_up, lying

PATH = "/ping/of-muster-7f3a"


@pytest.fixture
async def liar() -> AsyncIterator[Liar]:
    async with lying() as liar:
        liar.says(PATH, answer(b"OK", media_type="text/plain"))
        yield liar


def told_by(parts: Parts, liar: Liar) -> Parts:
    return replace(parts, settings=replace(parts.settings, ping_url=f"{liar.url}{PATH}"))


async def sweep(parts: Parts, workspace: str) -> None:
    await host_jobs.FUNCTIONS[looking.JOB](parts, Claim(0, 1, workspace, looking.JOB, {}))


async def test_each_good_sweep_of_the_platform_tells_it_once(parts: Parts, liar: Liar) -> None:
    telling = told_by(parts, liar)
    for workspace in ("main", "globex", "main"):
        await sweep(telling, workspace)
    assert [one.method for one in liar.asked(PATH)] == ["GET", "GET"]
    await sweep(parts, "main")
    assert len(liar.heard) == 2


@pytest.mark.parametrize("speech", [answer(status=500), answer(status=302), hangs_up])
async def test_what_goes_wrong_is_logged_once_without_the_address(parts: Parts, liar: Liar, speech: Speech) -> None:
    liar.says(PATH, speech)
    with capture_logs() as logged:
        await sweep(told_by(parts, liar), "main")
    assert len(liar.asked(PATH)) == 1
    (line,) = (one for one in logged if "MUSTER_PING_URL" in one["event"])
    assert line["log_level"] == "warning"
    assert "7f3a" not in str(logged)


async def test_without_the_setting_no_monitor_is_called(parts: Parts) -> None:
    assert await monitor.tell_monitor(parts) is False


@pytest.mark.parametrize(
    "wrong", ["monitor.test", "ftp://m.example/x", "https://u:p@m.example", "https://m.example/a b"]
)
def test_an_address_that_is_none_stops_the_start_and_is_not_repeated(wrong: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_settings({"MUSTER_PING_URL": wrong})
    assert "MUSTER_PING_URL" in str(refused.value)
    assert wrong not in str(refused.value)


async def test_the_page_says_when_the_policy_does_not_allow_the_monitor(
    alice: Browser, app: Any, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Set <code>MUSTER_PING_URL</code>" in (await alice.get("/admin/backups")).text
    private = replace(parts, settings=replace(parts.settings, ping_url=f"http://10.1.2.3{PATH}"))
    monkeypatch.setattr(app, "parts", private)
    shown = (await alice.get("/admin/backups")).text
    assert "The monitor is never called" in shown
    assert "MUSTER_OUTBOUND_ALLOW=10.1.2.3/32:80" in shown
    assert "7f3a" not in shown
