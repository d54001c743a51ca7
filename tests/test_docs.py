"""The pages in docs/: every word and every room of the product stands there, and every link leads somewhere."""

import re
from collections.abc import Iterator

from app.clock.codes import BINDING_STATES, OUTCOMES, TcCode
from app.errors import Refusal
from app.registry import modules
from app.web.errors import Gone
from tests.cluster import ROOT

DOCS = ROOT / "docs"


def pages() -> dict[str, str]:
    return {path.name: path.read_text() for path in [*DOCS.glob("*.md"), ROOT / "README.md"]}


def anchors(text: str) -> set[str]:
    """As a heading is linked to: small letters, hyphens for blanks, nothing else."""
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
        for heading in re.findall(r"(?m)^#+ (.*)$", text)
    }


def rows(text: str, heading: str) -> list[tuple[str, str]]:
    """Label and code of a table of the glossary."""
    table = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"(?m)^\| ([^|]+) \| `(\w+)` \|", table)


def test_the_glossary_names_every_outcome_and_every_binding_state() -> None:
    text = pages()["glossary.md"]
    assert sorted(rows(text, "Outcomes")) == sorted((words.label, one.value) for one, words in OUTCOMES.items())
    assert sorted(rows(text, "Binding states")) == sorted(
        (words.label, one.value) for one, words in BINDING_STATES.items()
    )


def test_the_architecture_names_every_room() -> None:
    text = pages()["architecture.md"]
    rooms = {
        path.parent.name
        for module in ("clock", "surveys")
        for path in (ROOT / "app" / module).glob("*/__init__.py")
        if path.parent.name not in ("pages", "api")
    }
    assert {room for room in rooms if f"`{room}/`" not in text} == set()


def test_the_files_that_the_architecture_names_are_there() -> None:
    named = re.findall(
        r"`((?:sync|mirror|bindings|importing|pairing|review|asking|ledger)/\w+\.py)`", pages()["architecture.md"]
    )
    assert len(named) > 8
    assert [name for name in named if not [*(ROOT / "app").glob(f"*/{name}")]] == []


def refusals(kind: type[Refusal] = Refusal) -> Iterator[type[Refusal]]:
    for one in kind.__subclasses__():
        yield one
        yield from refusals(one)


def test_the_page_of_the_apis_names_every_code_with_its_status() -> None:
    table = re.findall(r"(?m)^\| (\d{3}) \| (`[^|]+) \|", pages()["api.md"])
    named = {(int(status), code) for status, codes in table for code in re.findall(r"`(\w+)`", codes)}
    for module in modules():
        module.site()
    sent = {(one.status, one.code) for one in refusals() if one.__module__.startswith("app.")}
    assert named == sent - {(Gone.status, Gone.code)}


def test_the_page_of_clock_servers_names_every_failure_code() -> None:
    assert re.findall(r"(?m)^\| (TC-\w+) \|", pages()["clock-servers.md"]) == [one.value for one in TcCode]


def test_every_link_between_the_pages_leads_somewhere() -> None:
    texts = pages()
    dead = []
    for name, text in texts.items():
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
            file, _, anchor = target.removeprefix("docs/").partition("#")
            there = texts.get(file or name)
            if (there is None and not (ROOT / target).exists()) or (anchor and anchor not in anchors(there or "")):
                dead.append(f"{name}: {target}")
    assert dead == []
