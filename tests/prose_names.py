"""What docstrings, comments and pages of docs/ name of the tree, and which of these names lead to nothing."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("app", "deploy", "docs", "migrations", "static", "templates", "tests", "workers")
TREE = [
    *(str(path.relative_to(ROOT)) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.*"))),
    *(path.name for path in sorted(ROOT.glob("*.md"))),
]
MODULES = {name: ROOT / name for name in TREE if name.endswith(".py")}
ROOMS = {path.parent.name for name, path in MODULES.items() if name.startswith(("app/", "workers/"))}

_FILE = re.compile(r"(?<![\w{<*./-])(?:[\w-]+/)*[\w-]+\.(?:py|html|css|js|md)\b")
_ROOM = re.compile(r"(?<![\w/.:`<-])([a-z_]+)/([a-z_]+)(?![\w/(.-])")
_DOTTED = re.compile(r"\b(?:app|workers|tests)(?:\.\w+)+")
_OF_MODULE = re.compile(r"`([a-z_]+)\.(?!py\b)([A-Za-z_]+)\b(?!\.)[^`]*`")
_INSIDE = re.compile(r"([\w/-]+\.py)::(\w+)")
# Stands for any name: `app/MODULE/pages/NAME.py`.
_PLACEHOLDER = re.compile(r"MODULE|NAME|DATE")


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each docstring and comment of a Python file; of a page what stands between backticks."""
    text = path.read_text()
    if path.suffix == ".md":
        yield from ((number, " ".join(re.findall("`[^`]*`", line))) for number, line in enumerate(text.splitlines(), 1))
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def missing(path: Path, text: str) -> list[str]:
    """The names in `text`, a piece of the prose of `path`, that lead to nothing."""
    files = [name for name in _FILE.findall(text) if not _PLACEHOLDER.search(name) and not _is_file(path, name)]
    rooms = [f"{room}/{name}" for room, name in _ROOM.findall(text) if room in ROOMS and not _is_in(room, name)]
    dotted = [name for name in _DOTTED.findall(text) if not _is_dotted(name)]
    of_module = [f"{name}.{word}" for name, word in _OF_MODULE.findall(text) if not _is_of_module(name, word)]
    inside = [f"{file}::{word}" for file, word in _INSIDE.findall(text) if not _is_inside(file, word)]
    return [*files, *rooms, *dotted, *of_module, *inside]


def _is_file(path: Path, name: str) -> bool:
    """True where one file alone can be meant: the only one of its name,
    or the one that lies there as seen from a folder of `path`."""
    found = [ROOT / one for one in TREE if one == name or one.endswith(f"/{name}")]
    return len(found) == 1 or any(folder / name in found for folder in path.parents)


def _is_inside(file: str, word: str) -> bool:
    return any(
        re.search(rf"\b{word}\b", path.read_text()) for name, path in MODULES.items() if f"/{name}".endswith(f"/{file}")
    )


def _is_in(room: str, name: str) -> bool:
    return any(re.search(rf"(^|/){room}/{name}[/.]", one) for one in TREE)


def _is_dotted(name: str) -> bool:
    """A package or a module; or a name in one, or an attribute of that."""
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        folder = ROOT / "/".join(parts[:end])
        source = folder.with_suffix(".py") if folder.with_suffix(".py").is_file() else folder / "__init__.py"
        if source.is_file():
            return end == len(parts) or bool(re.search(rf"\b{parts[end]}\b", source.read_text()))
    return False


def _is_of_module(name: str, word: str) -> bool:
    """`name` may be something else than a module, and `name.word` a word of the audit."""
    texts = _texts().get(name)
    return texts is None or bool(re.search(rf"\b{word}\b", texts)) or f'"{name}.{word}"' in _texts()["module"]


@cache
def _texts() -> dict[str, str]:
    """The sources of all modules of a name, and of all in a room of that name."""
    found: dict[str, str] = defaultdict(str)
    for path in MODULES.values():
        for name in {path.stem, path.parent.name}:
            found[name] += path.read_text()
    return found
