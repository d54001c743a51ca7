"""Odd input to every command: numbers, days and instants that no column holds, texts that are none,
ranges the wrong way round.

Each ends with exit code 1 and one line, or 2 for wrong usage; never with a traceback, and never as if all were well.
"""

import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.cli import cli
from tests.command_line import CommandLine, Ended

HUGE, NEGATIVE = str(2**63), "-1"
UID = "00000000-0000-4000-8000-000000000000"
NO_FILE, LONG = "/nonexistent/file", "x" * 5000
OUT_OF_RANGE = (
    "0001-01-01T00:00+14:00",
    "9999-12-31T23:59-12:00",
    "0001-01-01T00:00",
    "9999-12-31T23:59:59",
    "1800-01-01T08:00",
)
BACKWARDS = ("2026-02-02", "2026-02-01")
CASES = [
    *(("attendance:edit", number, "--in", "2026-02-02T08:00") for number in (HUGE, "9" * 5000, "0", "1e3", "٣٣٣")),
    *(("attendance:decide", number, "approved") for number in (HUGE, "9" * 5000, "0", "--", "x")),
    ("acts:list", "extra"),
    *(("acts:stop", number) for number in (HUGE, "0", "", "1.5")),
    *(("attendance:delete", number) for number in (HUGE, "9" * 5000, "0", "", "1.5")),
    ("attendance:delete", "--", f"-{HUGE}"),
    ("attendance:delete", "--", NEGATIVE),
    *(("attendance:add", "1", instant, "2026-02-02T17:00") for instant in OUT_OF_RANGE),
    *(("attendance:add", "1", "2026-02-02T08:00", instant) for instant in OUT_OF_RANGE),
    ("attendance:add", LONG, "2026-02-02T08:00", "2026-02-02T17:00"),
    ("attendance:add", "1", "2026-02-02T08:00", "2026-02-02T17:00", "--note", LONG),
    ("attendance:add", "1", "2026-02-02T24:30", "2026-02-02T17:00"),
    *(("attendance:edit", "1", "--out", instant) for instant in OUT_OF_RANGE),
    ("attendance:export", "--from", BACKWARDS[0], "--to", BACKWARDS[1]),
    ("attendance:export", "--from", "0000-01-01"),
    ("attendance:export", "--to", "10000-01-01"),
    ("attendance:export", "--workspace", "nowhere"),
    ("attendance:export", "--workspace", LONG),
    ("attendance:export", "--workspace", ""),
    ("attendance:lock", *BACKWARDS),
    ("attendance:unlock", *BACKWARDS),
    ("attendance:lock", "0001-01-01", "9999-12-31"),
    ("attendance:lock", "9999-12-31", "9999-12-31"),
    ("attendance:lock", "0001-01-01", "0001-01-01"),
    ("attendance:unlock", "0001-01-01", "9999-12-31"),
    ("clock:backfill", *BACKWARDS),
    ("clock:backfill", "0001-01-01", "0001-01-02"),
    ("clock:backfill", "9999-12-30", "9999-12-31"),
    ("clock:backfill", "2026-02-01", "2026-02-02", "--emp-code", ""),
    ("clock:retry", "--from", BACKWARDS[0], "--to", BACKWARDS[1]),
    ("clock:retry", "--outcome", "sideways"),
    ("clock:settle", "--from", BACKWARDS[0], "--to", BACKWARDS[1]),
    ("clock:settle", "--outcome", "sideways"),
    ("clock:use", "--from", BACKWARDS[0], "--to", BACKWARDS[1]),
    ("clock:use", "--outcome", "sideways"),
    ("clock:bind", LONG, "1"),
    ("clock:bind", "1", LONG),
    ("clock:clear", LONG),
    ("clock:clear", ""),
    ("clock:ignore", LONG),
    ("clock:device", LONG, "--kind", "access"),
    ("clock:sync", "--budget-seconds", HUGE),
    ("clock:sync", "--workspace", "nowhere"),
    ("clock:import", "--workspace", "nowhere"),
    *(("clock:settings", f"page_size={number}") for number in (HUGE, "9" * 5000, NEGATIVE, "", "1_0", "٣٣")),
    *(
        ("clock:settings", f"history_start={day}")
        for day in ("0001-01-01", "9999-12-31", "", "2199-01-01", "10000-01-01")
    ),
    ("clock:settings", f"show_photos={LONG}"),
    ("clock:settings", f"{LONG}=1"),
    ("clock:settings", "=1"),
    ("clock:settings", "page_size"),
    ("clock:settings", "page_size=\x01"),
    *(
        ("clock:connect", url, "--username", "u", "--profile", "cloud", "--timezone", "UTC", "--no-test")
        for url in (
            "http://[::1",
            "http://０.０.０.０",
            "http://00.00.00.01",
            "http://xn--",
            "http://host:99999",
            "http://host:x",
            "",
            "ftp://host",
            "http://",
            LONG,
            "http://a b",
            "http://\x01",
        )
    ),
    *(
        ("clock:connect", "http://h.example", "--username", "u", "--profile", "cloud", "--timezone", zone, "--no-test")
        for zone in ("", "../etc/passwd", "/etc/passwd", "Europe", LONG, "\x01", "Nowhere/Land")
    ),
    ("clock:connect", "http://h.example", "--username", "", "--profile", "cloud", "--timezone", "UTC", "--no-test"),
    ("clock:connect", "http://h.example", "--username", LONG, "--profile", "cloud", "--timezone", "UTC", "--no-test"),
    ("clock:simulate", "--port", "65536"),
    ("clock:simulate", "--zone", "Nowhere/Land"),
    ("clock:simulate", "--zone", "../etc/passwd"),
    ("clock:simulate", "--zone", ""),
    ("clock:simulate", "--zone", LONG),
    ("clock:simulate", "--fault", "no_such_fault"),
    ("clock:simulate", "--fault", ""),
    ("clock:simulate", "--employees", HUGE),
    ("demo", "--days", HUGE),
    ("demo", "--port", "9009"),
    ("demo", "--port", "8026"),
    ("mail:catch", "--port", "8026"),
    ("mail:test", "ada"),
    ("problems", "--kind", LONG),
    ("problems", "--workspace", "nowhere"),
    ("webhook:create", "ftp://receiver.example", "--event", "sync.finished"),
    ("webhook:create", "https://receiver.example", "--event", LONG),
    ("webhook:list", "--workspace", "nowhere"),
    ("webhook:delete", HUGE),
    ("webhook:test", HUGE),
    ("serve", "--port", "65536"),
    ("serve", "--host", LONG),
    ("serve", "--host", "ä" * 100),
    ("serve", "--host", "no host.invalid"),
    ("worker", "--concurrency", HUGE),
    ("user:create", "", "--name", "Ada"),
    ("user:create", "ada", "--name", "Ada"),
    ("user:create", f"{LONG}@example.org", "--name", "Ada"),
    ("user:create", "a\x01@example.org", "--name", "Ada"),
    ("user:create", "ada@example.org", "--name", ""),
    ("user:create", "ada@example.org", "--name", LONG),
    ("user:create", "ada@example.org", "--name", "A\x01a"),
    ("user:create", "ada@example.org", "--name", "Ada", "--type", LONG),
    ("user:create", "ada@example.org", "--name", "Ada", "--role", LONG),
    ("token:create", "alice@example.org", "--scope", "me", "--days", HUGE),
    ("token:create", "alice@example.org", "--scope", "me", "--name", LONG),
    ("token:create", "alice@example.org", "--scope", "me", "--name", "a\x01"),
    ("token:create", LONG, "--scope", "me"),
    ("tenant:export", LONG, "acme.muster"),
    ("tenant:export", "acme", LONG),
    ("tenant:export", "a b", "acme.muster"),
    ("tenant:import", LONG),
    ("tenant:import", __file__),
    ("tenant:remove", LONG, "--yes", LONG),
    ("tenant:remove", "main", "--yes", "main"),
    ("person:erase", LONG),
    ("person:erase", ""),
    ("tenant:create", LONG, "--name", "Acme"),
    ("tenant:create", "", "--name", "Acme"),
    ("tenant:create", "a b", "--name", "Acme"),
    ("tenant:create", "main", "--name", "Acme"),
    ("tenant:create", "newone", "--name", ""),
    ("tenant:create", "newone", "--name", LONG),
    ("tenant:create", "newone", "--name", "a\x01"),
    ("tenant:create", "newone", "--name", "a\u202eb"),
    ("migrate:modules", "--workspace", LONG),
    ("migrate:modules", "--workspace", "nowhere"),
    ("migrate:modules", "--module", "none"),
    ("db:seed", "NoDemo"),
    ("db:seed", "SurveysDemo", "--workspace", "nowhere"),
    ("db:seed", "ClockDemo", "--workspace", LONG),
    ("module:test", LONG),
    ("module:test", ""),
    ("api:generate-spec", "--output", NO_FILE),
    ("api:generate-spec", "--output", "/"),
    ("api:generate-spec", "--api", "none"),
    ("employees:import", NO_FILE),
    ("employees:import", "/"),
    *((f"surveys:{act}", uid) for act in ("export", "publish", "archive") for uid in (UID, "x", "", LONG)),
    *(("surveys:responses", uid) for uid in (UID, "x", "", LONG)),
    ("surveys:responses", UID, "--output", NO_FILE),
    ("surveys:responses", UID, "--format", "xlsx"),
    ("surveys:responses", UID, "--version", "0"),
    ("surveys:create", NO_FILE),
    ("surveys:create", "/"),
    ("surveys:update", UID, NO_FILE),
    ("ledger:verify", "--workspace", "nowhere"),
    ("ledger:verify", "--workspace", LONG),
    ("secrets:rotate", "now"),
    ("doctor", "now"),
    ("no:such", "command"),
]


# What is unusual, and means something all the same.
FINE = [
    ("attendance:export", "--from", "0001-01-01", "--to", "9999-12-31"),
    ("attendance:export", "--from", "2026-02-01", "--to", "2026-02-01"),
    ("attendance:lock", "2100-12-31", "2100-12-31"),
    ("attendance:lock", "2000-01-01", "2000-01-01"),
    ("attendance:unlock", "0001-01-01", "0001-01-01"),
    ("clock:retry", "--from", "0001-01-01", "--to", "9999-12-31"),
    ("user:create", "ada@example.org", "--name", "Ādā 🙂"),
]


def refused(ended: Ended) -> str:
    """What a refused command said, in one line."""
    assert ended.code in (1, 2), (ended.code, ended.out, ended.err)
    assert "Traceback" not in ended.err
    assert "database" not in ended.err
    assert ended.out == ""
    return ended.refusal if ended.code == 1 else ended.err.splitlines()[-1]


def _named(arguments: tuple[str, ...]) -> str:
    return " ".join(arguments)[:60].encode("ascii", "backslashreplace").decode()


@pytest.mark.parametrize("arguments", CASES, ids=_named)
async def test_odd_input_is_refused(muster: CommandLine, arguments: tuple[str, ...]) -> None:
    assert refused(await muster(*arguments))


@pytest.mark.parametrize("arguments", FINE, ids=_named)
async def test_unusual_input_is_taken(muster: CommandLine, arguments: tuple[str, ...]) -> None:
    ended = await muster(*arguments)
    assert (ended.code, ended.err) == (0, "")


async def test_odd_input_about_what_there_is_is_refused(muster: CommandLine, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("id_number,name\n1,Ada\n")
    await muster("employees:import", people)
    record = (await muster("attendance:add", "1", "2026-02-02T08:00", "2026-02-02T17:00", "--json")).json["id"]
    connect = ("clock:connect", "http://h.example", "--username", "u", "--profile", "cloud", "--timezone")
    assert (await muster(*connect, "America/New_York", "--no-test", "--password-stdin", stdin="secret\n")).code == 0
    several = "".join(chr(0x4E00 + number) for number in range(3000))
    for arguments in (
        *(("clock:backfill", "2026-02-01", "2026-02-02", "--emp-code", code) for code in ("", " ", several)),
        *(("attendance:edit", record, "--in", instant) for instant in (*OUT_OF_RANGE, "0002-01-01T00:00+14:00")),
        *(
            ("attendance:add", "1", instant, instant)
            for instant in ("0002-01-01T00:00+14:00", "9998-12-31T23:59-12:00")
        ),
        ("attendance:edit", record, "--note", LONG),
        ("clock:settings", f"history_start={date.today() + timedelta(days=2)}"),
        ("clock:settings", "retain_transactions_days=61"),
    ):
        assert refused(await muster(*arguments)), arguments


def test_every_command_is_tried() -> None:
    assert {case[0] for case in CASES if case and case[0] in cli.commands} == set(cli.commands)


async def test_what_is_said_names_the_days_the_number_and_the_instant(muster: CommandLine) -> None:
    for command in ("attendance:export", "clock:retry"):
        ended = await muster(command, "--from", BACKWARDS[0], "--to", BACKWARDS[1])
        assert (ended.code, ended.refusal) == (
            1,
            "The range ends before it starts: it is from 2026-02-02 to 2026-02-01.",
        )
    assert f"{HUGE} is not in the range" in refused(await muster("attendance:delete", HUGE))
    assert "'0001-01-01T00:00+14:00' is out of range." in refused(
        await muster("attendance:edit", "1", "--in", OUT_OF_RANGE[0])
    )
    assert (await muster("api:generate-spec", "--output", NO_FILE)).refusal == (
        f"{NO_FILE} can't be written: No such file or directory."
    )


async def test_what_the_simulator_refuses_is_told_in_words_of_the_command(muster: CommandLine) -> None:
    """It named an option that the command lacked, and the usage of another program."""
    ended = await muster("clock:simulate", "--fault", "no_such_fault")
    assert (ended.code, "--list-faults shows them all" in ended.err) == (2, True)
    ended = await muster("clock:simulate", "--list-faults")
    assert (ended.code, "signin_401" in ended.out) == (0, True)
    ended = await muster("clock:simulate", "--zone", "Nowhere/Land")
    assert (ended.code, ended.err.startswith("Usage: muster clock:simulate")) == (2, True)


def test_every_command_that_gives_a_result_gives_it_as_one_json_document_on_request() -> None:
    """Contract: "Commands". Those that run until they are ended, and the tests of a module, have none to give; a table
    of responses may be larger than one document, so it comes as JSON Lines (`--format jsonl`)."""
    without = {name for name, one in cli.commands.items() if not any(p.name == "as_json" for p in one.params)}
    assert without == {
        "serve", "worker", "demo", "clock:simulate", "mail:catch", "module:test", "surveys:responses",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(cli.commands))
async def test_bytes_that_are_no_text_are_refused_by_every_command(muster: CommandLine, name: str) -> None:
    ended = await muster(name, "\udcff@x")
    assert (ended.code, refused(ended)) == (
        1,
        "Argument 2 is not UTF-8 text, or holds control characters: '\\udcff@x'.",
    )


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"\x00",
        b'{"title": "\xff"}',
        b'{"title": "a\\u0000"}',
        b'{"title": "\\ud800"}',
        b"id_number,name\n1,A\x00a\n",
        b"id_number,name\n1,A\xffa\n",
        b"",
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("command", [("surveys:create",), ("surveys:update", UID), ("employees:import",)], ids="".join)
async def test_files_that_hold_no_text_are_refused(
    muster: CommandLine, tmp_path: Path, command: tuple[str, ...], content: bytes
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    ended = await muster(*command, file)
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in ended.err


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file is at hand here that opens and can't be read")
async def test_a_file_that_breaks_off_while_it_is_read_is_not_taken_for_the_database(muster: CommandLine) -> None:
    """Its first page can't be read."""
    for command in (("employees:import",), ("surveys:create",), ("surveys:update", UID)):
        assert (await muster(*command, "/proc/self/mem")).refusal == "/proc/self/mem can't be read: Input/output error."


@pytest.mark.parametrize(
    "typed", ["", "\n", "pass\x00word and more\n", "pass\udcffword and more\n", "\x1b[31mpassword\n"]
)
async def test_a_password_that_no_form_could_send_is_refused(muster: CommandLine, typed: str) -> None:
    connect = (
        "clock:connect",
        "http://h.example",
        "--username",
        "u",
        "--profile",
        "cloud",
        "--timezone",
        "UTC",
        "--no-test",
    )
    for command in (("user:create", "ada@example.org", "--name", "Ada"), connect):
        assert "on standard input" in refused(await muster(*command, "--password-stdin", stdin=typed))


def _outside(muster: CommandLine, *arguments: bytes | str, **options: Any) -> "subprocess.Popen[bytes]":
    """The same as a process, with real arguments and real pipes."""
    environment = {**os.environ, **muster.environment, "PYTHONUTF8": "0", "LC_ALL": "C.UTF-8"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-m", "app", *arguments], env=environment, **pipes, **options)


def test_a_process_that_is_given_bytes_says_one_line(muster: CommandLine) -> None:
    process = _outside(muster, "user:create", b"\xff@x", "--name", "Ada")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, b"")
    assert err.decode() == "Error: Argument 2 is not UTF-8 text, or holds control characters: '\\udcff@x'.\n"


def test_a_process_whose_standard_input_is_no_text_says_one_line(muster: CommandLine) -> None:
    process = _outside(muster, "user:create", "ada@example.org", "--name", "Ada", "--password-stdin")
    out, err = process.communicate(b"pass\xffword and more\n", timeout=60)
    assert (process.returncode, out, len(err.splitlines())) == (1, b"", 1)
    assert b"not UTF-8 text" in err


def test_a_process_whose_reader_has_seen_enough_ends_without_a_word(muster: CommandLine) -> None:
    with _outside(muster, "attendance:export") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait(60)) == (b"", 1)
