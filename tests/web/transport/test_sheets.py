"""Style sheets as browsers get them."""

import re

import pytest

from app.web.transport.sheets import FOLDER, packed
from tests.conftest import Browser

SHEETS = sorted(FOLDER.glob("*.css"))


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        (".a {\n  color: red;\n  top: 0;\n}\n", ".a{color:red;top:0}"),
        (".a, .b > .c { top: 0 }", ".a,.b > .c{top:0}"),
        (".a :hover { top: calc(1px + 2px); }", ".a :hover{top:calc(1px + 2px)}"),
        ('/* don\'t */ .a::after { content: "a;  b"; }', '.a::after{content:"a;  b"}'),
        (
            "@media (min-width: 62rem) and (print) {\n  .a { top: 0; }\n}",
            "@media (min-width:62rem) and (print){.a{top:0}}",
        ),
        ("", ""),
    ],
)
def test_a_sheet_loses_what_only_people_need(written: str, sent: str) -> None:
    assert packed(written) == sent


async def test_browsers_get_it_packed_and_may_keep_it(visitor: Browser) -> None:
    answer = await visitor.get("/static/css/lists.css?v=1")
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.text == packed((FOLDER / "lists.css").read_text())
    assert {"last-modified", "etag"} & {*answer.headers}
    assert "no-store" not in answer.headers.get("cache-control", "")


@pytest.mark.parametrize("name", ["none.css", "..", "%2e%2e%2fjs%2fmenus.js", "lists.css%00"])
async def test_nothing_else_is_sent(visitor: Browser, name: str) -> None:
    assert (await visitor.get(f"/static/css/{name}")).status_code in (400, 404)


@pytest.mark.parametrize("sheet", [sheet.name for sheet in SHEETS])
def test_a_line_of_a_sheet_holds_one_declaration(sheet: str) -> None:
    text = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", (FOLDER / sheet).read_text(), flags=re.DOTALL)
    assert [line for line in text.splitlines() if re.search(r";\s*[\w-]", re.sub(r"\([^()]*\)", "", line))] == []
    if sheet != "dark.css":  # which is written by a program
        assert [line for line in text.splitlines() if len(line) > 120] == []
