"""The pages of docs/ that the portal shows under /help, as HTML; and where a part of one stands."""

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
# In the order of the list, with what each answers. Who changes Muster itself reads the others in the repository.
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
    """`parts` are (anchor, heading) of the headings of the second level; `anchors` those of all headings."""

    name: str
    title: str
    parts: Sequence[tuple[str, str]]
    anchors: frozenset[str]
    text: Markup


def slug(heading: str) -> str:
    """As GitHub makes the anchor of a heading: small letters, hyphens for blanks, no other signs."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


@cache
def pages() -> dict[str, HelpPage]:
    """By name, all of SHOWN. Made once for the process."""
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
    """Level, anchor and text of each; the heading gets the anchor as its id."""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            said = "".join(one.content for one in inline.children or ())
            opening.attrSet("id", slug(said))
            yield opening.tag, slug(said), said


def _address(link: str) -> str:
    """In the portal, of a page that is shown there; anything else stays as it is."""
    found = _PAGE.fullmatch(link)
    if found is None or found[1] not in SHOWN:
        return link
    return f"/help/{found[1]}{found[2] or ''}"


def _name_tables(tokens: Sequence[Token]) -> None:
    """Each by the heading above it, for those who hear the page."""
    above, seen = "", Counter[str]()
    for token in tokens:
        if token.type == "heading_open":
            above = str(token.attrGet("id")).replace("-", " ")
        elif token.type == "table_open":
            seen[above] += 1
            token.meta["label"] = f"Table {seen[above]}: {above}"


def _mark_cells(tokens: Sequence[Token]) -> None:
    """Each cell says what it is, for where its row is a card: the first one is the title, the others have their heading."""
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
    """A line that is longer than the page wraps; one that is copied stays one line."""
    return f"<pre><code>{escape(tokens[place].content)}</code></pre>\n"
