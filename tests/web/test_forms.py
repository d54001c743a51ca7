"""The box above a form that was refused: each field by its label, and a link that leads to it."""

import re

import pytest

from app.errors import FieldError, Invalid
from app.web.fields import Number, Text
from app.web.forms import Form
from tests.conftest import Browser

FORM = Form(Text("name", "Name", required=True), Number("hours", "Pause", least=0))
LINK = re.compile(r'<a href="#([^"]+)">([^<]+)</a>')


def test_the_summary_names_each_field_in_the_order_of_the_form_and_what_belongs_to_none_first() -> None:
    bound = FORM.fill()
    bound.absorb(Invalid("No.", details=[FieldError("hours", "At least 0."), FieldError("elsewhere", "Not now.")]))
    bound.refuse("name", "This is needed.")
    assert bound.summary == [("", "Not now."), ("name", "Name: This is needed."), ("hours", "Pause: At least 0.")]


@pytest.mark.parametrize(
    ("url", "data", "said"),
    [
        ("/admin/policies", {"optional_gap_hours": "-1"}, "Pause between two optional surveys: At least 0."),
        ("/clock_settings/sections/budget", {"page_size": "0"}, "Time: Give a whole number"),
        ("/clock_settings/connection", {"company": "x" * 201}, "Company"),
        ("/admin/roles/new", {"name": "", "permissions": "nonsense"}, "Permissions: Choose from the list."),
        ("/attendance/add", {"rows": "1", "break_1_out": "x"}, "Break 1, from: Give a date"),
        ("/apps/add", {"name": "Till", "platforms": "web", "icon_kept": "!"}, "Icon: Choose the picture again."),
        ("/surveys/save", {"do": "save"}, "Title: "),
    ],
)
async def test_each_line_above_a_refused_form_leads_to_a_field_that_is_there(
    alice: Browser, url: str, data: dict[str, str], said: str
) -> None:
    answer = await alice.submit(url, data)
    assert answer.status_code == 422
    box = answer.text.partition("error-summary")[2].partition("</ul>")[0]
    lines = LINK.findall(box)
    assert len(lines) == box.count("<li>")
    assert any(text.startswith(said) for _, text in lines), lines
    assert [at for at, _ in lines if f'id="{at}"' not in answer.text] == []
