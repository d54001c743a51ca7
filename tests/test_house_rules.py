"""The rules of the house, read off the imports and the syntax tree (design: architecture, "Arrows" and "One place for each fear")."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for folder in ("app", "workers") for path in (ROOT / folder).rglob("*.py"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
# Cores that take data and `now` and return data.
PURE = {
    "app/clock/accepting.py",
    "app/clock/codes.py",
    "app/clock/covered_hours.py",
    "app/clock/directory.py",
    "app/clock/explaining.py",
    "app/clock/lanes.py",
    "app/clock/lone_folds.py",
    "app/clock/matching.py",
    "app/clock/pairing.py",
    "app/clock/resolving.py",
    "app/clock/shift_judging.py",
    "app/clock/shifts.py",
    "app/clock/tap_words.py",
    "app/clock/taps.py",
    "app/clock/verdicts.py",
    "app/clock/widening.py",
    "app/clock/windows.py",
    "app/counting.py",
    "app/errors.py",
    "app/host/application_words.py",
    "app/outbound/spellings.py",
    "app/surveys/answers.py",
    "app/surveys/chain.py",
    "app/surveys/content.py",
    "app/surveys/definition.py",
    "app/surveys/demo_cast.py",
    "app/surveys/demo_plan.py",
    "app/surveys/differences.py",
    "app/surveys/errors.py",
    "app/surveys/item.py",
    "app/surveys/pacing.py",
    "app/surveys/rating_figures.py",
    "app/surveys/results.py",
    "app/surveys/words.py",
    "app/texts.py",
    "app/web/located.py",
    "app/web/merging.py",
}
IMPURE_PARTS = (
    "sqlalchemy",
    "asyncpg",
    "httpx",
    "httpcore",
    "litestar",
    "asyncio",
    "os",
    "random",
    "time",
    "app.db",
    "app.web",
)
# Who may not import whom: module prefix → what it must not reach.
FORBIDDEN = {
    "app.host": ("app.clock", "app.surveys", "workers"),
    "app.clock": ("app.surveys", "app.main", "workers"),
    "app.web": ("app.clock", "app.surveys", "app.main", "workers"),
    "app.api": ("app.clock", "app.surveys", "app.main", "workers"),
    "app.db": ("app.clock", "app.surveys", "app.host", "app.web", "app.api", "app.main", "workers"),
    "app.outbound": ("app.clock", "app.db", "app.host", "app.web", "app.api", "app.main", "workers"),
    "app.simulator": ("app.clock", "app.db", "app.host", "app.web", "app.api", "app.outbound", "app.main", "workers"),
    "app": ("workers",),
}


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """All these trees would stay, and be looked through for garbage, for the rest of the run."""
    yield
    nodes_of.cache_clear()


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Of the whole syntax tree, the module first."""
    return list(ast.walk(ast.parse(path.read_text(), filename=str(path))))


@cache
def imports_of(path: Path) -> list[str]:
    return list(_imports_in(nodes_of(path)))


def _imports_in(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def reaches(module: str, target: str) -> bool:
    return module == target or module.startswith(f"{target}.")


def test_arrows_run_one_way() -> None:
    wrong = [
        f"{name_of(path)} imports {module}"
        for path in SOURCES
        for prefix, targets in FORBIDDEN.items()
        if reaches(name_of(path), prefix)
        for module in imports_of(path)
        for target in targets
        if reaches(module, target)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(PURE))
def test_a_pure_core_reads_no_clock_no_network_and_no_database(name: str) -> None:
    path = ROOT / name
    impure = [module for module in imports_of(path) if any(reaches(module, part) for part in IMPURE_PARTS)]
    clocks = [
        ast.unparse(node)
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today") and isinstance(node.value, ast.Name)
        and node.value.id in ("datetime", "date")
    ]  # fmt: skip
    assert (impure, clocks) == ([], [])


@pytest.mark.parametrize("name", sorted(PURE))
def test_a_pure_core_builds_on_pure_modules_alone(name: str) -> None:
    ours = {name_of(path) for path in SOURCES if path.name != "__init__.py"}
    pure = {name_of(ROOT / one) for one in PURE}
    assert [module for module in imports_of(ROOT / name) if module in ours - pure] == []


ONE_PLACE = {
    # what is forbidden elsewhere: (what to look for in a line, where it may stand)
    "schemas are named in db alone": (r"search_path", ("app/db/", "workers/")),
    "nobody calls commit": (r"\.commit\(\)", ("app/db/",)),
    "engines are made in db alone": (r"create_(async_)?engine\(", ("app/db/",)),
    "outbound calls go through one door": (
        r"^\s*(import|from) (httpx|httpcore|requests|urllib\.request)",
        ("app/outbound/", "app/clock/remote/address.py"),
    ),
    "secrets are sealed in one place": (r"AESGCM|from cryptography", ("app/secrets.py",)),
    "htmx is known to the web package alone": (r"[\"']hx-", ("app/web/",)),
    "HTML is sanitised in one place": (r"(import|from) bleach", ("app/surveys/content.py",)),
    "many values are one parameter in one way": (r"any_\((cast\()?literal\(", ("app/db/among.py",)),
    "group_key starves other jobs": (r"group_key", ()),
    "prepared random comes from secrets": (r"^import random$|^from random", ("app/simulator/", "app/outbound/")),
}


@pytest.mark.parametrize("rule", ONE_PLACE)
def test_one_place_for_each_fear(rule: str) -> None:
    pattern, allowed = ONE_PLACE[rule]
    wrong = [
        f"{relative}:{number} {line.strip()}"
        for path in SOURCES
        if not (relative := str(path.relative_to(ROOT))).startswith(tuple(allowed) or ("\0",))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(pattern, line) and not line.lstrip().startswith(("#", '"""'))
    ]
    assert wrong == []


def test_templates_hold_no_inline_style_or_script() -> None:
    """The Content-Security-Policy forbids both; so no template may need an exception."""
    pattern = re.compile(r"\sstyle=|\son[a-z]+=|hx-on|<style|<script(?![^>]*\ssrc=)|javascript:")
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in TEMPLATES
        for number, line in enumerate(re.sub(r"(?s)\{#.*?#\}", blank, path.read_text()).splitlines(), 1)
        if pattern.search(line)
    ]
    assert wrong == []


def blank(comment: re.Match[str]) -> str:
    """The comment's line breaks, so that line numbers stay."""
    return "\n" * comment[0].count("\n")


def test_every_post_form_carries_the_csrf_token() -> None:
    wrong = []
    for path in TEMPLATES:
        forms = re.findall(r'<form[^>]*method="post".*?</form>', path.read_text(), re.DOTALL)
        wrong += [f"{path.relative_to(ROOT)}: {form[:80]}" for form in forms if "csrf_token" not in form]
    assert wrong == []


def test_every_module_says_what_lives_there() -> None:
    assert [name_of(path) for path in SOURCES if not ast.get_docstring(nodes_of(path)[0])] == []


def test_no_relationship_loads_by_itself() -> None:
    """Rows are read by the query that needs them; a relationship would have to say lazy="raise"."""
    wrong = [
        name_of(path)
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and "relationship" in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
        and "lazy='raise'" not in ast.unparse(node)
    ]
    assert wrong == []


def test_files_are_cut_by_noun() -> None:
    kinds = {"services", "repositories", "utils", "helpers", "schemas", "managers", "common", "misc"}
    assert [str(path) for path in SOURCES if path.stem in kinds] == []


def test_the_project_speaks_of_the_project_alone() -> None:
    """No path of a machine, no host of a package registry, no word that marks something as unfinished."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    hosts = "|".join(["pypi" + r"\.org", "pythonhosted" + r"\.org", "npmjs" + r"\.(org|com)", "deb" + r"\.debian\.org"])
    unfinished = "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX:", "not implemented " + "yet"])
    pattern = re.compile(f"{hosts}|\\b({unfinished})\\b|/home/[a-z]+/|/ro" + "ot/")
    wrong = []
    for name in tracked:
        if (
            "/vendor/" in name
            or name.endswith((".png", ".lock", ".svg", ".ico", ".jpg"))
            or not (ROOT / name).is_file()
        ):
            continue
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1):
            if pattern.search(line):
                wrong.append(f"{name}:{number} {line.strip()[:100]}")
    assert wrong == []
