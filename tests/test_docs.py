"""The pages in docs/: every word and every room of the product stands there, and every link leads somewhere."""

import re
from collections.abc import Iterator
from datetime import timedelta

from app.clock.bindings.similar_names import SIMILAR
from app.clock.codes import BINDING_STATES, TcCode
from app.clock.days import CHECK_DAYS, LIVE_DAYS
from app.clock.mirror.terminal_skew import RECENT
from app.clock.module import JOBS
from app.clock.outcomes import GROUP_LABELS, OUTCOMES
from app.clock.pages.setting_fields import ABOUT, FORM
from app.clock.pairing.shifts import DAY
from app.clock.profiles import PROFILES
from app.clock.punches.marks import NEAR
from app.clock.settings import EARLIEST, ClockSettings
from app.errors import Refusal
from app.outbound.calls import Limits
from app.outbound.strict_json import MAX_DEPTH
from app.problems.kinds import kinds
from app.registry import modules
from app.web import help as manual
from app.web.errors.refusals import Gone
from tests.cluster import ROOT

DOCS = ROOT / "docs"
# What the macro ui.about is given: a whole target, or the part before an anchor that is made of a word.
_ABOUT = re.compile(r'ui\.about\("([^"]*)"( ~)?')


def pages() -> dict[str, str]:
    return {path.name: path.read_text() for path in [*DOCS.glob("*.md"), ROOT / "README.md"]}


def anchors(text: str) -> set[str]:
    """As a heading is linked to: small letters, hyphens for blanks, nothing else."""
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
        for heading in re.findall(r"(?m)^#+ (.*)$", text)
    }


def part(text: str, heading: str) -> str:
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def subpart(text: str, heading: str) -> str:
    """Up to the next heading of any level."""
    return re.split(r"\n#+ ", re.split(rf"\n#+ {heading}\n", text)[1])[0]


def headed(text: str) -> list[tuple[str, str]]:
    """Heading and code of what has a small heading of its own."""
    found = re.findall(r"(?m)^### (.+)\n\nCode `(\w+)`\. ", text)
    assert text.count("\n### ") == len(found)
    return found


def test_the_glossary_names_every_outcome_and_links_to_its_rule() -> None:
    table = part(pages()["glossary.md"], "Outcomes")
    said = re.findall(r"(?m)^\| \[([^\]]+)\]\(rules\.md#([\w-]+)\) \| `(\w+)` \| ([^|]+) \| \w", table)
    assert sorted(said) == sorted(
        (words.label, words.label.lower().replace(" ", "-"), one.value, GROUP_LABELS[words.group])
        for one, words in OUTCOMES.items()
    )


def test_the_glossary_has_a_heading_for_every_binding_state() -> None:
    said = headed(part(pages()["glossary.md"], "Binding states"))
    assert sorted(said) == sorted((words.label, one.value) for one, words in BINDING_STATES.items())


def test_the_words_of_the_glossary_stand_in_order_and_once() -> None:
    words = re.findall(r"(?m)^\| ([^|]+) \| ", part(pages()["glossary.md"], "Words"))[1:]
    assert len(words) > 40
    assert words == sorted(set(words))


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
    """Each has a heading, in the order of the product, and the text under it says what happened and what to do."""
    said = re.findall(r"(?m)^### (.+)\n\n(.+)", part(pages()["clock-servers.md"], "Failure codes"))
    assert [code for code, _ in said] == [one.value for one in TcCode]
    assert all(len(text) > 40 for _, text in said)


def test_the_pages_name_no_failure_code_that_the_product_does_not_have() -> None:
    named = {code for text in pages().values() for code in re.findall(r"\bTC-[A-Z]+\b", text)}
    assert named == {one.value for one in TcCode}


def test_the_page_of_clock_servers_names_every_profile_with_its_paths() -> None:
    text = part(pages()["clock-servers.md"], "Profiles")
    for profile in PROFILES.values():
        called = profile.sign_in
        for path in (called.path, called.refresh_path, profile.paths["devices"], profile.paths["transactions"]):
            assert f"`{profile.name}`" in text
            assert re.search(rf"`(POST )?{re.escape(path)}`", text), path


def test_the_limits_that_the_pages_name_are_those_of_the_product() -> None:
    text = pages()["clock-servers.md"]
    limits, settings = Limits(), ClockSettings(EARLIEST)
    assert f"{limits.connect_s:g} seconds, a whole call {limits.call_s:g} seconds" in text
    assert f"{limits.body_bytes // 2**20} MiB and {MAX_DEPTH} levels" in text
    assert f"`run_budget_seconds` ({settings.run_budget_seconds})" in text
    assert f"`run_budget_calls` ({settings.run_budget_calls})" in text
    assert f"last {CHECK_DAYS} days" in text
    assert LIVE_DAYS == 3
    assert "**last three days** are read in every run" in text
    assert JOBS["clock_sync"].timeout == timedelta(hours=3)
    assert "three hours with its import" in text


def test_the_pages_name_the_measures_of_the_product() -> None:
    glossary, architecture = pages()["glossary.md"], pages()["architecture.md"]
    assert f"its score is {SIMILAR:g} of 100 or more" in glossary
    assert f"score of `SIMILAR` ({SIMILAR:g} of 100) or more" in architecture
    assert f"over its last {RECENT} punches" in glossary


def test_the_reach_of_marks_on_the_page_of_the_rules_is_that_of_the_product() -> None:
    text = pages()["rules.md"]
    assert f"arrives within {NEAR // timedelta(hours=1)} hours of it" in text
    assert NEAR.days == 2
    assert "a day within two days of it is unlocked" in text
    assert f"it is more than {DAY // timedelta(hours=1)} hours" in text


def test_a_number_beside_a_setting_of_the_rules_is_its_default() -> None:
    said = re.findall(r"`(\w+)` \((\d+)\)", pages()["rules.md"])
    defaults = {name: getattr(ClockSettings(EARLIEST), name) for name, _ in said}
    assert len(defaults) == 5
    assert {name: int(value) for name, value in said} == defaults


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


def test_the_readme_leads_to_every_page() -> None:
    table = part(pages()["README.md"], "Read on")
    assert set(re.findall(r"(?m)^\| \[[^\]]+\]\(docs/([\w-]+\.md)\) \| \S", table)) == set(pages()) - {"README.md"}


def test_every_heading_that_the_code_names_is_there() -> None:
    """As in (docs/rules.md, "Pairing", "Outcomes")."""
    texts, dead, named = pages(), [], 0
    for folder in ("app", "workers", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for page, headings in re.findall(r'docs/([\w-]+\.md)((?:, "[^"]+")*)', path.read_text()):
                lines = set(re.findall(r"(?m)^#+ (.*)$", texts.get(page, "")))
                said = re.findall(r'"([^"]+)"', headings)
                named += len(said)
                if page not in texts or not lines.issuperset(said):
                    dead.append(f"{path.relative_to(ROOT)}: {page}{headings}")
    assert named > 8
    assert dead == []


def test_what_stands_in_italics_with_a_capital_is_a_word_of_the_portal() -> None:
    """Buttons, settings and pages are named as the portal shows them."""
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "app").rglob("*.py")]
    product = " ".join(" ".join(path.read_text().split()) for path in files).lower()
    named = {
        (name, label)
        for name, text in pages().items()
        for italic in re.findall(r"(?<![*\w])\*([A-Z][^*|]*)\*(?![*\w])", text)
        for label in " ".join(italic.split()).split(" › ")
    }
    assert len(named) > 25
    assert {(name, label) for name, label in named if label.lower() not in product} == set()


def test_the_portal_shows_every_page_that_is_not_for_developers() -> None:
    assert set(manual.SHOWN) == {path.stem for path in DOCS.glob("*.md")} - {"architecture"}


def test_a_heading_of_help_has_the_anchor_that_links_name() -> None:
    for name, page in manual.pages().items():
        assert page.anchors == anchors((DOCS / f"{name}.md").read_text()) - {manual.slug(page.title)}
        assert all(f'id="{anchor}"' in page.text for anchor in page.anchors)


def test_links_between_pages_of_help_stay_in_the_portal() -> None:
    linked = {link for page in manual.pages().values() for link in re.findall(r'href="([^"]+)"', page.text)}
    assert len(linked) > 40
    assert [link for link in linked if ".md" in link] == []
    assert [link for link in linked if link.startswith("/") and not is_in_help(link.removeprefix("/help/"))] == []


def is_in_help(target: str) -> bool:
    name, _, anchor = target.partition("#")
    found = manual.pages().get(name)
    return found is not None and (not anchor or anchor in found.anchors)


def test_every_link_to_help_leads_to_a_heading() -> None:
    """A person who renames a heading learns here which page of the portal leads to it."""
    given = [
        (target, more)
        for path in (ROOT / "templates").rglob("*.html")
        for target, more in _ABOUT.findall(path.read_text())
    ]
    whole = {target for target, more in given if not more} | set(ABOUT.values())
    made = {target for target, more in given if more}
    assert made == {"rules#", "glossary#", "clock-servers#"}
    templates = [path.read_text() for path in (ROOT / "templates").rglob("*.html")]
    settings = sum(text.count("ui.about(about[field.name]") for text in templates)
    assert len(given) + settings == sum(text.count("ui.about(") for text in templates), "one that this test cannot read"
    whole |= {f"rules#{manual.slug(one.label)}" for one in OUTCOMES.values()}
    whole |= {f"glossary#{manual.slug(one.label)}" for one in BINDING_STATES.values()}
    whole |= {f"clock-servers#{manual.slug(one.value)}" for one in TcCode}
    assert [target for target in sorted(whole) if not is_in_help(target)] == []


def test_every_address_of_help_that_is_written_out_is_there() -> None:
    """In templates, scripts and Python, beside those of the macro."""
    own = set(re.findall(r' id="([\w-]+)"', (ROOT / "templates/host/help.html").read_text()))
    sources = [
        *(ROOT / "templates").rglob("*.html"),
        *(ROOT / "static/js").glob("*.js"),
        *(ROOT / "app").rglob("*.py"),
    ]
    named = {found for path in sources for found in re.findall(r"/help([/#][\w#-]+)", path.read_text())}
    assert "#prompt" in named
    named.remove("/keys")  # a page of its own
    assert [one for one in sorted(named) if not (one[1:] in own if one[0] == "#" else is_in_help(one[1:]))] == []


def test_every_setting_of_the_clock_says_where_help_tells_more() -> None:
    assert set(FORM.fields) - set(ABOUT) == {"show_photos", "show_temperature"}


def test_the_page_of_problems_lists_every_kind_as_it_is() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)`( †)? \| ([^|]+) \| (\w+) \| [^|]+ \| [^|]+ \|$", pages()["problems.md"])
    said = {name: (label, severity, bool(mark)) for name, mark, label, severity in rows}
    assert said == {one.name: (one.label, one.severity, one.platform_only) for one in kinds().values()}
    assert len(rows) == len(said)
