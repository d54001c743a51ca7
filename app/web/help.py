"""The pages of docs/ that the portal shows under /help, as HTML, and the addresses of their parts."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

FOLDER = Path(__file__).parents[2] / "docs"
# In the order of the list, with the question that each answers. The other pages are for people who change Muster
# itself.
SHOWN = {
    "problems": "What needs a person: how to work through the list of problems.",
    "rules": "What becomes of a punch, and why: every outcome, with worked cases.",
    "clock-servers": "What Muster reads from a time-clock server, what each failure code means, and what to do.",
    "surveys": "How a survey works: whom it asks and when, and what is kept of an answer.",
    "glossary": "What the words on the pages mean.",
    "operate": "For the people who run this server: updates, backups, tenants, commands.",
    "api": "For those who write programs against the two APIs.",
}
_PAGE = re.compile(r"([\w-]+)\.md(#[\w-]+)?")


@dataclass(frozen=True, slots=True)
class HelpPage:
    """`parts` are (anchor, heading) of the second-level headings; `anchors` are those of all headings."""

    name: str
    title: str
    parts: Sequence[tuple[str, str]]
    anchors: frozenset[str]
    text: Markup


def slug(heading: str) -> str:
    """Makes the anchor of a heading as GitHub does: small letters, hyphens for spaces, no other signs."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


@cache
def pages() -> dict[str, HelpPage]:
    """All of SHOWN, by name. Each process makes them once."""
    return {name: _read(name) for name in SHOWN}


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("table_open", _table_open)
    reader.add_render_rule("table_close", _table_close)
    for kind in ("fence", "code_block"):
        reader.add_render_rule(kind, _block_of_code)
    return reader


def _read(name: str) -> HelpPage:
    reader = _reader()
    tokens = reader.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    title, body = tokens[1].content, tokens[3:]
    headings = list(_headings(body))
    _name_tables(body)
    _mark_cells(body)
    for token in body:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", _address(str(child.attrGet("href"))))
    parts = [(anchor, said) for level, anchor, said in headings if level == "h2"]
    html = reader.renderer.render(body, reader.options, {})
    return HelpPage(name, title, parts, frozenset(anchor for _, anchor, _ in headings), Markup(html))  # noqa: S704 - our own files, escaped


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    """Level, anchor and text of each heading; the heading gets the anchor as its id."""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            said = "".join(one.content for one in inline.children or ())
            opening.attrSet("id", slug(said))
            yield opening.tag, slug(said), said


def _address(link: str) -> str:
    """The address in the portal when the page is shown there; any other address stays as it is."""
    found = _PAGE.fullmatch(link)
    if found is None or found[1] not in SHOWN:
        return link
    return f"/help/{found[1]}{found[2] or ''}"


def _name_tables(tokens: Sequence[Token]) -> None:
    """Names each table by the heading above it, for screen readers."""
    above, seen = "", Counter[str]()
    for token in tokens:
        if token.type == "heading_open":
            above = str(token.attrGet("id")).replace("-", " ")
        elif token.type == "table_open":
            seen[above] += 1
            token.meta["label"] = f"Table {seen[above]}: {above}"


def _mark_cells(tokens: Sequence[Token]) -> None:
    """Marks the cells for small screens, where a row is a card: the first cell is its title, the others get their
    heading as a label."""
    heads: list[str] = []
    place = 0
    for opening, inline in pairwise(tokens):
        if opening.type == "thead_open":
            heads = []
        elif opening.type == "tr_open":
            place = 0
        elif opening.type == "th_open":
            heads.append("".join(one.content for one in inline.children or ()))
        elif opening.type == "td_open":
            if place == 0:
                opening.attrSet("data-title", "")
            elif heads[place]:
                opening.attrSet("data-label", heads[place])
            place += 1


def _table_open(_: Any, tokens: Sequence[Token], place: int, *__: object) -> str:
    label = escape(tokens[place].meta["label"])
    return f'<div class="table-scroll" tabindex="0" role="region" aria-label="{label}"><table class="table dense">'


def _table_close(*_: object) -> str:
    return "</table></div>"


def _block_of_code(_: Any, tokens: Sequence[Token], place: int, *__: object) -> str:
    """A line of code that is longer than the page wraps; copied, it is one line."""
    return f"<pre><code>{escape(tokens[place].content)}</code></pre>\n"
