"""The rules of the house, read off the imports and the syntax tree."""

import ast
import re
import subprocess
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import prose_names, signatures
from tests.order import LONG, STAYS, THIS_SIDE

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for folder in ("app", "workers") for path in (ROOT / folder).rglob("*.py"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
# The cores that must stay pure. Others may join them, by the first line of their docstring.
PURE = {
    "app/clock/bindings/accepting.py",
    "app/clock/bindings/code_states.py",
    "app/clock/bindings/directory.py",
    "app/clock/bindings/matching.py",
    "app/clock/bindings/similar_names.py",
    "app/clock/bindings/transitions.py",
    "app/clock/codes.py",
    "app/clock/days.py",
    "app/clock/failure_words.py",
    "app/clock/figures/thresholds.py",
    "app/clock/mirror/one_key.py",
    "app/clock/outcomes.py",
    "app/clock/pairing/inputs.py",
    "app/clock/pairing/judge.py",
    "app/clock/pairing/lanes.py",
    "app/clock/pairing/lone_folds.py",
    "app/clock/pairing/overlaps.py",
    "app/clock/pairing/shift_rules.py",
    "app/clock/pairing/shifts.py",
    "app/clock/pairing/use_punches.py",
    "app/clock/pairing/verdicts.py",
    "app/clock/pairing/widening.py",
    "app/clock/parsing/people.py",
    "app/clock/parsing/punches.py",
    "app/clock/parsing/rows.py",
    "app/clock/parsing/times.py",
    "app/clock/parsing/values.py",
    "app/clock/problems/code_detectors.py",
    "app/clock/problems/connection_detectors.py",
    "app/clock/problems/day_detectors.py",
    "app/clock/problems/mirror_detectors.py",
    "app/clock/problems/person_days.py",
    "app/clock/problems/silence.py",
    "app/clock/problems/terminal_detectors.py",
    "app/clock/review/missing_end.py",
    "app/clock/review/sentences.py",
    "app/clock/review/timeline.py",
    "app/clock/review/words.py",
    "app/clock/sync/slice_length.py",
    "app/clock/sync/window_completeness.py",
    "app/counting.py",
    "app/dates.py",
    "app/db/located.py",
    "app/errors.py",
    "app/host/applications/application_words.py",
    "app/host/applications/icons.py",
    "app/languages.py",
    "app/outbound/spellings.py",
    "app/problems/findings.py",
    "app/problems/transitions.py",
    "app/surveys/asking/pacing.py",
    "app/surveys/authoring/content.py",
    "app/surveys/authoring/definition.py",
    "app/surveys/authoring/differences.py",
    "app/surveys/authoring/field_names.py",
    "app/surveys/authoring/repeat_rules.py",
    "app/surveys/decimals.py",
    "app/surveys/demo/cast.py",
    "app/surveys/demo/plan.py",
    "app/surveys/item.py",
    "app/surveys/ledger/answers.py",
    "app/surveys/ledger/chain.py",
    "app/surveys/ledger/errors.py",
    "app/surveys/ledger/same_answers.py",
    "app/surveys/ledger/walking.py",
    "app/surveys/mine/words.py",
    "app/surveys/pages/me/words.py",
    "app/surveys/question_details.py",
    "app/surveys/question_types.py",
    "app/surveys/ratings/figures.py",
    "app/surveys/results/figures.py",
    "app/surveys/results/promoters.py",
    "app/surveys/rounds/calendar.py",
    "app/surveys/rounds/repeats.py",
    "app/surveys/showing.py",
    "app/surveys/words.py",
    "app/texts.py",
    "app/web/merging.py",
    "app/webhooks/addresses.py",
    "app/wording/marked.py",
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
# A part stands on the rows below it: it imports nothing of its own row, and nothing above. Parts of the application, of
# which what the three modules bring are one, their pages and APIs another, and all their other rooms a third.
LAYERS = {
    "app": (
        "workers",
        "__main__",
        "cli",
        "commands",
        "main demo dark_sheet doctor moving",
        "wiring",
        "sealed",
        "MODULES",
        "PAGES",
        "api",
        "web",
        "ROOMS",
        "alerts",
        "problems",
        "long_acts mail webhooks",
        "jobs",
        "accounts simulator catcher doctor_standbys",
        "parts",
        "bodies db logs outbound secrets vendor",
        "charts config wording",
        "counting dates errors faults garbage languages periods registry texts worker_pace",
    ),
    "app.clock": (
        "module",
        "audited",
        "pages",
        "api jobs",
        "problems",
        "figures",
        "review sync purge",
        "importing connection",
        "mirror",
        "bindings",
        "settings",
        "punches",
        "zones",
        "failure_words pairing parsing remote",
        "codes outcomes models days profiles zone_words",
    ),
    "app.surveys": (
        "module",
        "audited",
        "pages",
        "api jobs",
        "demo",
        "erasing problem_kinds",
        "ratings",
        "mine",
        "results",
        "reminding",
        "asking",
        "authoring",
        "anonymous",
        "ledger",
        "languages_shown",
        "models item",
        "showing translations",
        "question_details rounds",
        "question_types words decimals",
    ),
    "app.host": (
        "module",
        "audited",
        "pages jobs api",
        "problem_kinds subjects erased_names telling",
        "attendance people applications saved_views backups",
        "events models zone",
    ),
}
MODULES = ("app.clock", "app.surveys", "app.host")
# The clock and the surveys know the host, the host knows neither, and they do not know each other.
APART = {
    "app.clock": ("app.surveys",),
    "app.surveys": ("app.clock",),
    "app.host": ("app.clock", "app.surveys"),
    "app.simulator": ("app.clock", "app.surveys", "app.host"),
    "app.outbound": ("app.db",),
}
MOST_MODULES = 25


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


NAMES = {name_of(path) for path in SOURCES}


def reaches(module: str, target: str) -> bool:
    return module == target or module.startswith(f"{target}.")


def part_of(module: str, whole: str) -> str | None:
    """Which part of `whole` a module belongs to; None for `whole` itself and for what lies outside."""
    if whole == "app":
        if reaches(module, "workers"):
            return "workers"
        if inside := next((one for one in MODULES if reaches(module, one)), None):
            rows = {"pages": "PAGES", "api": "PAGES", "module": "MODULES", "audited": "MODULES"}
            return rows.get(part_of(module, inside) or "", "ROOMS")
    return module.split(".")[whole.count(".") + 1] if module.startswith(f"{whole}.") else None


def ours_in(path: Path) -> set[str]:
    """The modules of ours that a file imports."""
    return {target for target in map(own_module, imports_of(path)) if target}


def own_module(name: str) -> str | None:
    """The module that an imported name is, or lies in."""
    return next((one for one in (name, name.rpartition(".")[0]) if one in NAMES), None)


@pytest.mark.parametrize("whole", LAYERS)
def test_a_part_stands_on_the_rows_below_it(whole: str) -> None:
    rows = {part: number for number, row in enumerate(LAYERS[whole]) for part in row.split()}
    wrong = [
        f"{name_of(path)} imports {target}"
        for path in SOURCES
        if (here := part_of(name_of(path), whole))
        for target in ours_in(path)
        if (there := part_of(target, whole)) and there != here and rows[there] <= rows[here]
    ]
    assert wrong == []


def test_the_table_of_layers_names_every_part() -> None:
    parts = {(whole, part) for whole in LAYERS for path in SOURCES if (part := part_of(name_of(path), whole))}
    assert parts == {(whole, part) for whole, rows in LAYERS.items() for row in rows for part in row.split()}


def test_the_modules_stay_apart() -> None:
    wrong = [
        f"{name_of(path)} imports {target}"
        for path in SOURCES
        for one, others in APART.items()
        if reaches(name_of(path), one)
        for target in ours_in(path)
        if any(reaches(target, other) for other in others)
    ]
    assert wrong == []


def test_pages_and_apis_write_no_table_themselves() -> None:
    """A row is written in the room that knows what belongs to it: its audit, its marks, its counts."""
    inside = [path for path in SOURCES if {"pages", "api"} & set(name_of(path).split(".")[2:3])]
    imported = {
        f"{name_of(path)} imports {alias.name}"
        for path in inside
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy")
        for alias in node.names
        if alias.name in {"insert", "update", "delete"}
    }
    written = {
        name_of(path) for path in inside if re.search(r"INSERT INTO|UPDATE \w+ SET|DELETE FROM", path.read_text())
    }
    assert len(inside) > 50
    assert imported | written == set()


def test_no_folder_holds_more_modules_than_one_can_look_through() -> None:
    modules = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {str(folder): number for folder, number in modules.items() if number > MOST_MODULES} == {}


# Their files are named by the address, the command, the table or the part of a server that each of them is.
EACH_BY_ITSELF = ("pages", "admin", "commands", "simulator", "models", "app")
MANY_MODULES = 8


def test_a_room_of_many_files_names_those_to_begin_with() -> None:
    """So a newcomer who opens the room's `__init__` knows where to look."""
    rooms = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    silent = []
    for room, number in rooms.items():
        charter = ast.get_docstring(nodes_of(room / "__init__.py")[0]) or ""
        named = [path for path in room.glob("*.py") if path.name in charter]
        if number > MANY_MODULES and room.name not in EACH_BY_ITSELF and len(named) < 2:
            silent.append(str(room.relative_to(ROOT)))
    assert silent == []


# Lines of a file that one reads at once. A longer one is a question: is it about two things?
MANY_LINES = 300
# How many files may be longer. It only shrinks.
STILL_LONG = 0


def test_few_files_are_longer_than_one_reads_at_once() -> None:
    long = [f"{name_of(path)}: {n}" for path in SOURCES if (n := path.read_text().count("\n")) > MANY_LINES]
    assert len(long) <= STILL_LONG, long


def test_no_two_classes_have_the_same_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and not reaches(name_of(path), "app.simulator"):
                places[node.name].append(name_of(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def is_pure(path: Path) -> bool:
    """True for a core that takes data and `now` and returns data, as its docstring's first line says.

    Read without a syntax tree: the tests are named after these files,
    so every process of the suite asks for all of them.
    """
    with path.open(encoding="utf-8") as file:
        return file.readline().rstrip().removesuffix('"""').endswith("Pure.")


def pure_names() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in SOURCES if is_pure(path))


def test_a_file_begins_with_its_docstring() -> None:
    """What says on a later line that it is pure would not be found, and not be looked at below."""
    later = [
        str(path.relative_to(ROOT)) for path in SOURCES if (text := path.read_text()) and not text.startswith('"""')
    ]
    assert later == []


@pytest.mark.parametrize("name", pure_names())
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


@pytest.mark.parametrize("name", pure_names())
def test_a_pure_core_builds_on_pure_modules_alone(name: str) -> None:
    impure = {name_of(path) for path in SOURCES if path.name != "__init__.py" and not is_pure(path)}
    assert sorted(ours_in(ROOT / name) & impure) == []


def test_the_cores_say_that_they_are_pure() -> None:
    assert sorted(PURE - {*pure_names()}) == []


ONE_PLACE = {
    # what is forbidden elsewhere: (what to look for in a line, where it may stand)
    "schemas are named in db alone": (r"search_path", ("app/db/", "workers/")),
    "nobody calls commit": (r"\.commit\(\)", ("app/db/",)),
    "engines are made in db alone": (r"create_(async_)?engine\(", ("app/db/",)),
    "outbound calls go through one door": (
        r"^\s*(import|from) (httpx|httpcore|requests|urllib\.request)",
        ("app/outbound/", "app/clock/remote/address.py"),
    ),
    "secrets are sealed in one place": (r"AESGCM|from cryptography", ("app/secrets.py", "app/moving/box.py")),
    "htmx is known to the web package alone": (r"[\"']hx-", ("app/web/",)),
    "HTML is sanitised in one place": (r"(import|from) bleach", ("app/surveys/authoring/content.py",)),
    "many values are one parameter in one way": (r"any_\((cast\()?literal\(", ("app/db/among.py",)),
    "marks to judge again are written in punches alone": (
        r"judge_at\s*=.*(clock_timestamp|func\.)|ELSE clock_timestamp|THEN clock_timestamp",
        ("app/clock/punches/",),
    ),
    "stale days are noted in punches alone": (r"INTO clock_stale_days|insert\(StaleDay", ("app/clock/punches/",)),
    "figures are rounded in one place, half up": (
        r"(?<![\w.])round\(|func\.round\(|\.quantize\(|\bROUND_",
        ("app/counting.py", "app/db/rounding.py"),
    ),
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


def test_templates_round_nothing_themselves() -> None:
    assert [path.name for path in TEMPLATES if re.search(r"\|\s*round\b|%\.\d", path.read_text())] == []


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


def test_every_cell_of_a_list_says_what_it_is() -> None:
    """Without its mark (`card_marks` in app.web.list_spec) a cell stands on a phone without its label."""
    lists = [path for path in TEMPLATES if "<td{{" in path.read_text()]
    assert len(lists) > 15
    bare = {
        f"{path.name}: {cell}"
        for path in lists
        for cell in re.findall(r"<td[^>]*", path.read_text())
        if not re.search(r'cells\["\w+"\] \}\}| data-(label|title|acts)|col-select|d-none', cell)
    }
    assert bare == set()


def test_badges_and_instants_are_drawn_by_their_functions() -> None:
    by_hand = re.compile(r"<time|<span class=\"badge")
    pages = [path for path in TEMPLATES if path.parent.name != "components"]
    assert [path.name for path in pages if by_hand.search(path.read_text())] == []


def test_templates_print_positions_and_compute_none() -> None:
    """Where the parts of a drawing stand is decided in app/charts, where a table of cases tests it."""
    length = re.compile(r'\s(?:c?[xy][12]?|d|r|width|height|points)="([^"]*\{\{[^"]*)"')
    found = {path.name: length.findall(path.read_text()) for path in TEMPLATES}
    assert sum(len(one) for one in found.values()) > 20
    wrong = {
        name: [one for one in those if not re.fullmatch(r"\{\{ [\w.]+(\[\d\])? \}\}%?", one)]
        for name, those in found.items()
    }
    assert {name: those for name, those in wrong.items() if those} == {}


LONGEST_LINE = 120


def test_a_template_reads_without_scrolling_sideways() -> None:
    longer = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in TEMPLATES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert longer == []


def test_every_post_form_carries_the_csrf_token() -> None:
    wrong = []
    for path in TEMPLATES:
        forms = re.findall(r'<form[^>]*method="post".*?</form>', path.read_text(), re.DOTALL)
        wrong += [f"{path.relative_to(ROOT)}: {form[:80]}" for form in forms if "csrf_token" not in form]
    assert wrong == []


def test_prose_reads_without_scrolling_sideways() -> None:
    """A comment behind code may be longer: what silences a tool has to stand on the line that it is about."""
    folders = ("app", "workers", "migrations", "tests")
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    wide = [f"{path.relative_to(ROOT)}:{number}" for path in files for number in wide_prose(path.read_text())]
    assert len(files) > 1000
    assert wide == []


def test_a_wide_line_of_prose_is_found() -> None:
    wide = "x" * LONGEST_LINE
    assert wide_prose(f'"""{wide}"""\n\n\ndef told():\n    """Told.\n\n    {wide}\n    """\n    # {wide}\n') == [
        1,
        7,
        9,
    ]
    assert wide_prose(f'told = """\n{wide} for a person\n"""  # {wide}\n') == []


def wide_prose(text: str) -> list[int]:
    """The lines of docstrings, and of comments that have a line of their own, that are longer than LONGEST_LINE."""
    wide = {number: line for number, line in enumerate(text.splitlines(), 1) if len(line) > LONGEST_LINE}
    docstrings = [
        range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
        for node in (ast.walk(ast.parse(text)) if wide else ())
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
    ]
    return [n for n, line in wide.items() if line.lstrip().startswith("#") or any(n in one for one in docstrings)]


def test_every_module_says_what_lives_there() -> None:
    assert [name_of(path) for path in SOURCES if not ast.get_docstring(nodes_of(path)[0])] == []


def test_prose_names_only_what_is_in_the_tree() -> None:
    """After a rename, a docstring that still sends the reader to the old file is worse than none."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in (*prose_names.MODULES.values(), *pages)
        for line, text in prose_names.prose_of(path)
        for name in prose_names.missing(path, text)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "stale",
    [
        "Sentences are in explaining.py.",
        "What a run does: `review/explaining.py`.",
        "The acts are in bindings/explaining's.",
        "Lists are in queries.py.",
        "See app.clock.explaining for more.",
        "Opened by app.clock.codes.explain, not here.",
        "As `matching.explaining` does.",
        "What follows: `punches/marks.py::_explain`.",
    ],
)
def test_a_name_that_leads_to_nothing_is_found(stale: str) -> None:
    """Lists: several files have that name, so the folder has to be said."""
    assert len(prose_names.missing(ROOT / "app/clock/figures/status.py", stale)) == 1


@pytest.mark.parametrize(
    "good",
    [
        "Lists are in punches/queries.py; verbs in bindings/actions and `app/clock/bindings/rows.py`.",
        "Its neighbour is dashboard.py; the only one of its name is count_check.py.",
        "app.clock.outcomes.Outcome.IMPORTED, app.clock.codes, `rows.write`, `employee.deactivate`, and/or",
        "`app/MODULE/pages/NAME.py`, docs/clock-servers.md, tests/clock/pairing/test_why.py, a rate/hour",
    ],
)
def test_a_name_that_leads_somewhere_is_left_alone(good: str) -> None:
    assert prose_names.missing(ROOT / "app/clock/figures/status.py", good) == []


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


MOST_IGNORED_TYPES = 10


def test_the_type_checker_is_silenced_in_few_places() -> None:
    ignored = [f"{name_of(path)}: {line.strip()}" for path, line in lines_of(SOURCES) if "type: " + "ignore" in line]
    assert len(ignored) <= MOST_IGNORED_TYPES, ignored


def test_a_module_without_any_stays_without_it() -> None:
    """It stands in the list of pyproject.toml, under which the type checker refuses the next `Any`."""
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    named = next(one["module"] for one in overrides if one.get("disallow_any_explicit"))
    listed = set(named)
    assert named == sorted(listed), "keep the list sorted, one name a line: so branches merge without a conflict"
    assert listed <= {name_of(path) for path in SOURCES}
    without = {name_of(path) for path in SOURCES if not re.search(r"\bAny\b", path.read_text()) and is_code(path)}
    assert sorted(without - listed) == [], "add these names to the list"


def test_any_in_a_signature_is_a_row_or_json() -> None:
    """Give another one its type; or, where it is a row or JSON, a name of `tests.signatures` that says so."""
    found = {name_of(path): list(signatures.loose(ast.parse(path.read_text()))) for path in SOURCES}
    left = {name: those for name, those in found.items() if those}
    assert {name: those for name, those in left.items() if name not in signatures.STILL_LOOSE} == {}
    assert [name for name in signatures.STILL_LOOSE if name not in left] == [], "take these names off the list"


def is_code(path: Path) -> bool:
    return path.name != "__init__.py" or "def " in path.read_text()


def test_a_silenced_linter_is_explained() -> None:
    silent = re.compile(r"# noqa: [A-Z]+\d+(, [A-Z]+\d+)*\s*$|# noqa\s*$")
    files = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
    assert [f"{name_of(path)}: {line.strip()}" for path, line in lines_of(files) if silent.search(line)] == []


def lines_of(files: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    for path in files:
        for line in path.read_text().splitlines():
            yield path, line


def test_the_order_of_the_suite_names_files_and_tests_that_there_are() -> None:
    named = [
        (ROOT / "tests" / file, test) for file, _, test in (one.partition("::") for one in (*LONG, *THIS_SIDE, *STAYS))
    ]
    assert [file for file, _ in named if not file.exists()] == []
    assert [test for file, test in named if test and f"def {test}(" not in file.read_text()] == []


def test_files_are_cut_by_noun() -> None:
    kinds = {"services", "repositories", "utils", "helpers", "schemas", "managers", "common", "misc"}
    assert [str(path) for path in SOURCES if path.stem in kinds] == []


def test_the_top_level_is_fixed() -> None:
    """What a newcomer sees first. `deploy/` is there as soon as something is deployed with it."""
    ours = {"app", "deploy", "docs", "migrations", "static", "templates", "tests", "workers"}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    folders = {path.split("/")[0] for path in tracked if "/" in path and not path.startswith(".")}
    assert folders | {"deploy"} == ours


def test_the_image_holds_what_the_portal_reads() -> None:
    copied = (ROOT / "Dockerfile").read_text()
    let_in = (ROOT / ".dockerignore").read_text().split("\n")
    for folder in ("app", "docs", "migrations", "static", "templates", "workers"):
        assert f"\nCOPY {folder} {folder}\n" in copied
        assert f"!{folder}" in let_in


def test_the_repository_stands_alone() -> None:
    """It refers to its own docs/, and to no page that only its makers had."""
    words = (
        "import-rul{}es",
        r"\((desi{}gn|contra{}ct|spec|style): [a-z\"]",
        "design pa{}ge",
        r"\.\./sha{}red",
        r"the contra{}ct\b",
    )
    elsewhere = re.compile("|".join(words).replace("{}", ""))
    wrong = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()[:100]}"
        for folder, kind in (
            ("app", "*.py"),
            ("workers", "*.py"),
            ("tests", "*.py"),
            ("templates", "*.html"),
            ("docs", "*.md"),
        )
        for path in sorted((ROOT / folder).rglob(kind))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if elsewhere.search(line)
    ]
    assert wrong == []


# Words that have to be decoded, and what to write in their place. The rule of the prose: subject, verb, object.
DECODED = {
    r"whoever": "the person who, the caller, or who it is",
    r"nobody": "no person, no employee, or the positive form",
    r"anew": "again",
    r"(is|are) none that|none that": "no longer, or not a",
    r"should (it|its|they)": "if it",
    r"what no": "a value that no",
    r"hardly": "rarely, almost never",
    r"save for": "except",
    r"any more": "no longer",
    r"go(es)? on|went on": "continues, resumes",
    r"takes (it|that) back": "undoes it",
    r"(what|which) is no (?!longer|more)\w+": "what is not a",
    r"is none of (ours|theirs)": "is not ours",
    r"were it": "if it were",
}
# Answers and messages that the invented authors of the demo wrote.
WRITTEN_BY_AUTHORS = {"app/surveys/demo/cast.py"}


# How many lines of the tests may still hold such a word, in a name too. It only shrinks.
STILL_IN_TESTS = 2
BESIDE_THEM = [
    ROOT / "README.md",
    ROOT / "Makefile",
    *sorted((ROOT / "static" / "js").glob("*.js")),
    *sorted((ROOT / "static" / "css").glob("*.css")),
    *sorted((ROOT / "migrations").rglob("*.py")),
    *sorted(path for path in (ROOT / "deploy").rglob("*") if path.is_file() and path.suffix != ".pyc"),
]


NAMES_TOO = {*SOURCES, *TEMPLATES}


def decoded(path: Path) -> list[str]:
    """Each line of a file that holds one of these words, with what to write in place."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        # A name is read like prose: that of a test is a whole sentence.
        said = line.replace("_", " ") if path in NAMES_TOO or "def test_" in line else line
        for pattern, better in DECODED.items():
            if re.search(rf"\b({pattern})\b", said, re.IGNORECASE):
                found.append(f"{path.relative_to(ROOT)}:{number} write {better}: {line.strip()[:100]}")
    return found


def test_a_sentence_is_understood_at_the_first_reading() -> None:
    prose = [*SOURCES, *TEMPLATES, *sorted((ROOT / "docs").rglob("*.md")), *BESIDE_THEM]
    assert [
        line for path in prose if str(path.relative_to(ROOT)) not in WRITTEN_BY_AUTHORS for line in decoded(path)
    ] == []


def test_the_tests_lose_the_words_that_have_to_be_decoded() -> None:
    here = Path(__file__)
    left = [line for path in sorted((ROOT / "tests").rglob("*.py")) if path != here for line in decoded(path)]
    assert len(left) <= STILL_IN_TESTS, "\n".join(left)


def test_a_docstring_says_when_something_is_true() -> None:
    """`True when …`, where one would have to work out what "Whether …" answers."""
    whether = [
        f"{name_of(path)}:{node.body[0].lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (ast.get_docstring(node) or "").startswith("Whether ")
    ]
    assert whether == []


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


def test_it_is_said_of_every_table_what_happens_to_it_when_a_tenant_moves() -> None:
    models = "".join(path.read_text() for path in SOURCES)
    moving = ast.parse((ROOT / "app" / "moving" / "tables.py").read_text())
    said = {node.value for node in ast.walk(moving) if isinstance(node, ast.Constant)}
    assert set(re.findall(r'__tablename__ = "(\w+)"', models)) - said == set(), "say it in app/moving/tables.py"
