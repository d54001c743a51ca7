"""Leaves out of a vendored style sheet the rules for classes that no page has: of Tabler's that is three quarters.

Names of classes are looked for in what makes pages: templates, scripts, and the Python files of app/web. Each of their
words counts as a name. A name that a page puts together counts by its beginning: "alert-" in `alert-{{ level }}`.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
MAKE_PAGES = ("templates/**/*.html", "static/js/*.js", "app/web/**/*.py")
_WORD = re.compile(r"[A-Za-z][\w-]*")
_BEGINNING = re.compile(r"[A-Za-z][\w-]*-(?=[{\"'])")
# The last one is in an at-rule, whose own rules stand one level deeper.
_RULE = re.compile(r"([^{}]*)\{((?:[^{}]|\{[^{}]*\})*)\}")
_MARK = re.compile(r"([(),])")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_CLASS = re.compile(r"\.((?:\\.|[\w-])+)")


@cache
def written_in_pages() -> tuple[frozenset[str], tuple[str, ...]]:
    """The words of everything that makes pages, and the beginnings of those that are put together."""
    texts = [path.read_text() for kind in MAKE_PAGES for path in ROOT.glob(kind)]
    return frozenset(_found(_WORD, texts)), tuple(sorted(set(_found(_BEGINNING, texts))))


def needed(css: str, words: Collection[str], beginnings: tuple[str, ...]) -> str:
    """The sheet without the selectors that name a class which is neither one of `words` nor begins with one of
    `beginnings`, and without rules that have no selector then."""

    def is_needed(selector: str) -> bool:
        return all(name in words or name.startswith(beginnings) for name in classes(selector))

    def rule(found: re.Match[str]) -> str:
        head, body = found[1], found[2]
        if head.lstrip().startswith("@"):
            inner = needed(body, words, beginnings) if "{" in body else body
            return f"{head}{{{inner}}}" if inner else ""
        kept = ",".join(filter(is_needed, _selectors(head)))
        return f"{kept}{{{body}}}" if kept else ""

    return _RULE.sub(rule, css)


def classes(selector: str) -> list[str]:
    """The classes that an element and those around it must have. What `:not()`, `:is()` and `:has()` name may be
    absent."""
    while (outside := _IN_BRACKETS.sub("", selector)) != selector:
        selector = outside
    return [name.replace("\\", "") for name in _CLASS.findall(selector)]


def _selectors(head: str) -> Iterator[str]:
    """The parts between the commas that stand in no brackets."""
    part, depth = "", 0
    for piece in _MARK.split(head):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and not depth:
            yield part
            part = ""
        else:
            part += piece
    yield part


def _found(pattern: re.Pattern[str], texts: Iterable[str]) -> Iterator[str]:
    return (found for text in texts for found in pattern.findall(text))
