"""The question before an act: in a dialog under its own heading, as a page under the page's, and never under both."""

import re

from app.db.session import Database
from tests.conftest import Browser
from tests.host.staff import hire
from tests.surveys.drafted import drafted


def headings(html: str) -> list[str]:
    return re.findall(r"<h[12][^>]*>(.*?)</h[12]>", html.partition("<main")[2] or html, re.DOTALL)


async def test_a_question_is_said_once(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        await hire(db)
        survey = (await drafted(db)).uid
    for url, question in (
        ("/people/1/deactivate", "Deactivate Ada Lovelace?"),
        (f"/surveys/delete/{survey}", "Delete “Lunch”?"),
        ("/admin/users/1/sign-out", "everywhere?"),
    ):
        asked = headings((await alice.get(url)).text)
        assert len(asked) == 1
        assert question in asked[0]
        assert len(headings((await alice.fragment(url)).text)) == 1


async def test_a_bulk_act_is_asked_about_under_one_heading(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        await hire(db)
    asked = await alice.submit("/people/bulk", {"action": "delete", "id": "1"})
    assert headings(asked.text) == ["Delete 1 person?"]
