"""Style sheets as browsers get them."""

import re

import pytest

from app.web.transport.assets import STATIC
from app.web.transport.sheets import packed

FOLDER = STATIC / "css"
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


@pytest.mark.parametrize("sheet", [sheet.name for sheet in SHEETS])
def test_a_line_of_a_sheet_holds_one_declaration(sheet: str) -> None:
    text = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", (FOLDER / sheet).read_text(), flags=re.DOTALL)
    assert [line for line in text.splitlines() if re.search(r";\s*[\w-]", re.sub(r"\([^()]*\)", "", line))] == []
    if sheet != "dark.css":  # which is written by a program
        assert [line for line in text.splitlines() if len(line) > 120] == []
