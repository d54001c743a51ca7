"""Watching and steering a running simulator: the page, the control paths, the command, and time passing."""

import ast
import asyncio
import signal
import sys
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

import app.simulator
from app.simulator import FAULTS
from app.simulator.__main__ import clock_at_pace, main
from tests.simulator.visitor import NOW, visiting


async def refusal(visitor, what, /, **body):
    answer = await visitor.http.post(f"/_control/{what}", json=body)
    assert answer.status_code == 422
    return answer.json()["error"]


async def test_new_punches_keep_arriving_as_the_clock_runs():
    seconds = [NOW.timestamp()]
    async with visiting("cloud", world_clock=lambda: seconds[0]) as visitor:
        first = await visitor.walk("transactions", size=500)
        assert await visitor.walk("transactions", size=500) == first
        seconds[0] += 6 * 3600
        second = await visitor.walk("transactions", size=500)
        assert len(second) > len(first)
        assert {row["id"] for row in first} < {row["id"] for row in second}
        new = [row for row in second if row not in first]
        assert all(row["upload_time"] > "2025-03-12 16:30:00" for row in new)


async def test_time_stands_still_until_it_is_told_to_pass():
    async with visiting("cloud") as visitor:
        before = visitor.simulator.world.now
        await visitor.get("employees")
        assert visitor.simulator.world.now == before
        passed = await visitor.control("advance", seconds=86400)
        assert passed["now"] == before + 86400
        assert passed["punches_came"] > 0


async def test_a_punch_can_be_added_at_any_time_for_anybody_at_any_terminal():
    async with visiting("onprem") as visitor:
        serial = visitor.simulator.world.terminals[3].serial
        body = {"emp_code": "10003", "terminal_sn": serial, "at": "2031-01-02 03:04:05", "code": 9, "verify": 25}
        (number,) = (await visitor.control("punch", **body))["ids"]
        (row,) = await visitor.walk("transactions", start_time="2030-01-01")
        assert (row["id"], row["emp_code"], row["terminal_sn"]) == (number, "10003", serial)
        assert (row["punch_time"], row["punch_state"], row["punch_state_display"]) == (
            "2031-01-02 03:04:05",
            "9",
            "Unknown",
        )
        assert row["verify_type"] == 25
        await visitor.control("punch", emp_code="10003", at="2031-01-02T03:04:05+01:00", times=2)
        assert [row["punch_time"] for row in await visitor.walk("transactions", start_time="2030-01-01")] == [
            "2031-01-02 03:04:05"
        ] * 3
        assert "no time" in await refusal(visitor, "punch", emp_code="10003", at="noonish")
        assert "further off" in await refusal(visitor, "punch", emp_code="10003", at="0001-01-01 00:00:00")
        assert "<= 9999" in await refusal(visitor, "punch", emp_code="10003", code=70_000)


async def test_punches_of_strangers_are_there_but_the_strangers_are_not_listed():
    async with visiting("cloud") as visitor:
        people, devices = (await visitor.page("employees"))[1], (await visitor.page("devices"))[1]
        await visitor.control("punch", emp_code="GHOST", terminal_sn="UNKNOWN-1", at="2031-01-01 08:00:00")
        (row,) = await visitor.walk("transactions", start_time="2030-01-01")
        assert (row["emp"], row["emp_code"], row["terminal_sn"]) == (None, "GHOST", "UNKNOWN-1")
        assert (await visitor.page("employees"))[1] == people
        assert (await visitor.page("devices"))[1] == devices


async def test_a_person_leaves_returns_and_changes():
    async with visiting("cloud") as visitor:

        async def find(code):
            rows, _ = await visitor.page("employees", emp_code=code)
            return rows[0] if rows else None

        await visitor.control("person", action="remove", emp_code="10001")
        assert await find("10001") is None
        await visitor.control("person", action="return", emp_code="10001")
        await visitor.control("person", action="rename", emp_code="10001", first_name="Ottilie", last_name="Neu")
        await visitor.control("person", action="disable", emp_code="10001")
        row = await find("10001")
        assert (row["first_name"], row["last_name"], row["enable_att"]) == ("Ottilie", "Neu", False)
        assert row["update_time"] == "2025-03-12 16:30:00"
        await visitor.control("person", action="recode", emp_code="10001", new_code="77001")
        assert (await find("77001"))["id"] == row["id"]
        await visitor.control("person", action="add", emp_code="88001", first_name="Quint", last_name="Zehn")
        assert (await find("88001"))["first_name"] == "Quint"
        (punch, *_), _ = await visitor.page("transactions", emp_code="77001")
        assert punch["first_name"] == "Ottilie"


async def test_who_left_punches_no_more_and_who_came_does():
    async with visiting("cloud") as visitor:
        await visitor.control("person", action="remove", emp_code="10002")
        await visitor.control("person", action="add", emp_code="88001")
        before = (await visitor.page("transactions", emp_code="10002"))[1]
        await visitor.control("advance", seconds=8 * 86400)
        assert (await visitor.page("transactions", emp_code="10002"))[1] == before
        assert (await visitor.page("transactions", emp_code="88001"))[1] > 5


async def test_nonsense_about_people_is_refused():
    async with visiting("cloud") as visitor:
        assert "there already" in await refusal(visitor, "person", action="add", emp_code="10001")
        assert "no employee" in await refusal(visitor, "person", action="remove", emp_code="none")
        assert "one of" in await refusal(visitor, "person", action="promote", emp_code="10001")
        assert "new_code" in await refusal(visitor, "person", action="recode", emp_code="10001")
        assert "unknown field" in await refusal(visitor, "person", action="remove", emp_code="10001", why="x")


async def test_an_instant_that_could_be_of_any_zone_is_refused_and_says_how_to_write_it():
    async with visiting("cloud") as visitor:
        serial = visitor.simulator.world.terminals[0].serial
        punch = {"emp_code": "10001", "terminal_sn": serial, "code": 0}
        assert "write a space for the T" in await refusal(visitor, "punch", **punch, at="2025-03-13T08:00:00")
        for instant in ("2025-03-13 08:00:00", "2025-03-13T08:00:00+01:00"):
            assert (await visitor.control("punch", **punch, at=instant))["ids"]


async def test_a_terminal_is_added_goes_offline_becomes_a_door_and_gets_a_wrong_clock():
    async with visiting("cloud") as visitor:
        serial = visitor.simulator.world.terminals[0].serial
        await visitor.control("terminal", action="offline", terminal_sn=serial)
        await visitor.control("terminal", action="door", terminal_sn=serial)
        await visitor.control("terminal", action="rename", terminal_sn=serial, alias="Back door")
        await visitor.control("terminal", action="add", terminal_sn="NEW-1", alias="Fresh")
        rows = {row["sn"]: row for row in await visitor.walk("devices")}
        mine = rows[serial]
        assert (mine["state"], mine["is_attendance"], mine["alias"]) == (0, False, "Back door")
        assert rows["NEW-1"]["alias"] == "Fresh"
        await visitor.control("terminal", action="clock", terminal_sn=serial, ahead_s=7200)
        await visitor.control("advance", seconds=86400)
        newest, _ = await visitor.page("transactions", terminal_sn=serial, start_time="2025-03-13 16:31:00")
        assert newest
        await visitor.control("terminal", action="remove", terminal_sn=serial)
        assert serial not in {row["sn"] for row in await visitor.walk("devices")}
        assert "no terminal" in await refusal(visitor, "terminal", action="door", terminal_sn="none")
        assert "one of" in await refusal(visitor, "terminal", action="paint", terminal_sn=serial)


async def test_faults_are_switched_while_it_runs():
    async with visiting("cloud") as visitor:
        await visitor.faults("http_500")
        assert (await visitor.get("employees")).status_code == 500
        assert "no fault" in await refusal(visitor, "faults", set=["nonsense"])
        assert (await visitor.get("employees")).status_code == 500, "a refusal changes nothing"
        await visitor.faults()
        assert (await visitor.get("employees")).status_code == 200


async def test_switching_another_fault_on_does_not_start_the_first_one_over():
    async with visiting("cloud", ["http_500=1,at=employees"]) as visitor:
        assert (await visitor.get("employees")).status_code == 500
        await visitor.faults("http_500=1,at=employees", "page_cap_50")
        assert (await visitor.get("employees")).status_code == 200


async def test_sessions_can_be_ended_and_the_password_changed():
    async with visiting("cloud") as visitor:
        await visitor.control("sessions", action="end")
        assert (await visitor.get("employees")).status_code == 401
        await visitor.control("sessions", action="password", password="another")
        assert (await visitor.sign_in()).status_code == 401
        assert (await visitor.sign_in("another")).status_code == 200
        assert "action" in await refusal(visitor, "sessions", action="sing")


async def test_the_state_tells_everything_and_no_secret():
    async with visiting("cloud", ["page_cap_50"]) as visitor:
        await visitor.get("employees")
        answer = await visitor.http.get("/_control/state")
        state = answer.json()
        assert (state["people"], state["faults"], state["call_count"]) == (40, ["page_cap_50"], 2)
        assert state["punches"] == len(visitor.simulator.world.punches)
        assert state["calls"][-1]["path"] == visitor.profile.paths["employees"]
        assert state["available_faults"] == FAULTS
        assert visitor.http.headers["Authorization"].split()[1] not in answer.text


async def test_controls_take_json_posts_only():
    async with visiting("cloud") as visitor:
        assert (await visitor.http.get("/_control/punch")).status_code == 405
        form = await visitor.http.post("/_control/faults", data={"set": "http_500"})
        assert form.status_code == 405
        assert (await visitor.http.post("/_control/nothing", json={})).status_code == 404
        assert (
            await visitor.http.post("/_control/faults", content=b"{", headers={"content-type": "application/json"})
        ).status_code == 422


class Strict(HTMLParser):
    """Notes every tag and attribute, and that tags close in order."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], set(), set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


async def test_the_page_shows_what_happens_and_needs_no_script():
    async with visiting("cloud", ["page_cap_50"]) as visitor:
        await visitor.control("person", action="rename", emp_code="10001", first_name="<script>alert(1)</script>")
        await visitor.control("punch", emp_code="10001", at="2031-01-01 08:00:00")
        await visitor.get("employees", page="<b>")
        answer = await visitor.http.get("/")
        page = Strict()
        page.feed(answer.text)
        assert not page.open
        assert "script" not in page.seen
        assert not {name for name in page.attributes if name == "style" or name.startswith("on")}
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        for text in ("page_cap_50", "2031-01-01 08:00:00", visitor.profile.paths["employees"], "&lt;b&gt;"):
            assert text in answer.text
        assert (await visitor.http.get("/_control/style.css")).headers["content-type"] == "text/css"


async def test_the_page_stands_in_an_empty_world():
    from app.simulator import build_world
    from tests.simulator.visitor import ZONE

    async with visiting("onprem", world=build_world(1, 0, 0, 1, NOW, ZONE)) as visitor:
        assert (await visitor.http.get("/")).status_code == 200
        assert await visitor.walk("transactions") == []


def test_a_paced_clock_catches_up_and_never_overtakes():
    real = [1000.0]
    clock = clock_at_pace(400.0, 10, lambda: real[0])
    assert clock() == 400
    real[0] = 1010
    assert clock() == 500
    real[0] = 2000
    assert clock() == 2000


def test_the_command_lists_its_faults(capsys):
    assert main(["--list-faults"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown and line in shown for name, line in FAULTS.items())


@pytest.mark.parametrize(
    "arguments", [["--zone", "Mars/Olympus"], ["--employees", "-1"], ["--terminals", "0"], ["--profile", "other"]]
)
def test_the_command_refuses_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_the_command_refuses_an_unknown_fault(capsys):
    assert main(["--employees", "1", "--days", "1", "--fault", "nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


@pytest.mark.slow
async def test_the_command_serves_until_it_is_stopped():
    arguments = [
        "-m",
        "app.simulator",
        "--port",
        "0",
        "--employees",
        "20",
        "--days",
        "3",
        "--profile",
        "onprem",
        "--pace",
        "60",
    ]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    lines = [(await asyncio.wait_for(process.stdout.readline(), 30)).decode() for _ in range(5)]
    address = lines[0].split()[-1]
    async with httpx.AsyncClient(base_url=address) as http:
        before = (await http.get("/_control/state")).json()
        await asyncio.sleep(1.1)
        after = (await http.get("/_control/state")).json()
        assert 30 <= after["now"] - before["now"] <= 120, "sixty times as fast as real time"
    assert "clock-demo" in "".join(lines)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 10) == 0


def test_the_simulator_imports_nothing_of_the_rest():
    allowed = {"app", "msgspec", "uvicorn", "uvloop"}
    for path in Path(app.simulator.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            for name in names:
                top = name.partition(".")[0]
                assert top in sys.stdlib_module_names or top in allowed, (path.name, name)
                assert top != "app" or name.startswith("app.simulator"), (path.name, name)


async def test_a_punch_can_be_edited_deleted_and_brought_back():
    async with visiting("onprem") as visitor:
        body = {"emp_code": "10003", "at": "2031-01-02 03:04:05"}
        (number,) = (await visitor.control("punch", **body))["ids"]
        (before,) = await visitor.walk("transactions", start_time="2030-01-01")
        await visitor.control("punch/edit", id=number, at="2031-01-02 04:00:00", emp_code="10004", code=1)
        (row,) = await visitor.walk("transactions", start_time="2030-01-01")
        assert (row["id"], row["emp_code"], row["punch_time"], row["punch_state"]) == (
            number, "10004", "2031-01-02 04:00:00", "1",
        )  # fmt: skip
        assert (row["terminal_sn"], row["upload_time"]) == (before["terminal_sn"], before["upload_time"])
        assert await visitor.control("punch/delete", ids=[number, 1]) == {"deleted": 1}
        assert await visitor.walk("transactions", start_time="2030-01-01") == []
        assert await visitor.control("punch/bring_back", ids=[number, 1]) == {"back": 1}
        assert await visitor.walk("transactions", start_time="2030-01-01") == [row]


async def test_a_punch_that_is_not_there_cannot_be_edited():
    async with visiting("onprem") as visitor:
        assert "no punch" in await refusal(visitor, "punch/edit", id=7)
        assert "no time" in await refusal(visitor, "punch/edit", id=7, at="noon")
