"""The table of a survey's responses: a row each, a column for each question, as CSV, JSON Lines and Excel,
by page and by command."""

import csv
import io
import json
import socket
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from sqlalchemy import insert, select, update

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import User
from app.commands import survey_responses
from app.db.session import Database
from app.host.models import Employee
from app.parts import Parts
from app.surveys import erasing
from app.surveys.authoring import actions as authoring
from app.surveys.erasing import EvidenceOwner
from app.surveys.models import PromptState
from tests.command_line import CommandLine
from tests.conftest import Browser, SignIn
from tests.host.staff import hire
from tests.surveys.drafted import CONSENT, Stored, defined, published
from tests.surveys.recording import AT, lunch, record, user_id

LATER = AT + timedelta(days=2)
SHOWN_AT = AT - timedelta(minutes=5)


def address(survey: Stored, **query: object) -> str:
    asked = {"survey": survey.uid, "shape": "table", "export": "csv", **query}
    return "/surveys/responses?" + "&".join(f"{name}={value}" for name, value in asked.items())


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


async def table(browser: Browser, survey: Stored, **query: object) -> list[dict[str, str]]:
    answer = await browser.get(address(survey, **query))
    assert answer.status_code == 200, answer.text
    return read(answer.text)


@pytest.fixture
async def meal(parts: Parts) -> Stored:
    """Lunch, to which Nora, who works in the kitchen and was shown it, said everything, and Bob little."""
    survey = await lunch(parts.database)
    nora, bob = [await user_id(parts.database, short) for short in ("nora", "bob")]
    async with parts.database.transaction() as db:
        employee = await hire(db, "Nora Nemo", department="Kitchen")
        await db.execute(update(Employee).where(Employee.id == employee).values(user_id=nora))
        shown = {"survey_id": survey.id, "version": 1, "user_id": nora, "impressions": 1}
        await db.execute(insert(PromptState).values(**shown, first_shown_at=SHOWN_AT, last_shown_at=SHOWN_AT))
    await record(parts.database, parts.keys, survey, nora)
    await record(
        parts.database, parts.keys, survey, bob, 2, None, None, None, "=1+1", recorded_at=AT + timedelta(days=1)
    )
    return survey


async def erase(database: Database, short: str) -> None:
    async with database.shared_transaction() as db:
        found = select(User.id, User.email).where(User.email == f"{short}@example.org")
        row = (await db.execute(found)).one()
    await erasing.erase(database, COMMAND_LINE, EvidenceOwner(row.id, row.email, "main"))


async def test_each_response_is_a_row_and_each_question_a_column(meal: Stored, vera: Browser) -> None:
    nora, bob = await table(vera, meal)
    receipt = nora.pop("Receipt")
    assert len(receipt) == 64
    assert nora == {
        "Stars?": "4",
        "How much?": "much",
        "Which?": "soup",
        "What all?: rice": "1",
        "What all?: bread": "0",
        "What all?: beans": "1",
        "Why?": "Nora was served cold soup",
        "Person": "Nora Nemo",
        "E-mail": "nora@example.org",
        "User type (today)": "employee",
        "Department (today)": "Kitchen",
        "Workspace": "main",
        "Version": "1",
        "Language": "",
        "First shown": "2026-11-21T07:55:00.250000Z",
        "Recorded": "2026-11-21T08:00:00.250000Z",
        "Outcome": "answered",
    }
    said = ("Person", "How much?", "What all?: rice", "Why?", "First shown", "Department (today)")
    assert [bob[name] for name in said] == ["Bob Brandt", "", "", "'=1+1", "", ""]


@pytest.mark.parametrize(
    ("query", "people"),
    [
        ({"outcome": "answered"}, ["Nora Nemo", "Bob Brandt"]),
        ({"outcome": "opted_out"}, []),
        ({"from": "2026-11-22"}, ["Bob Brandt"]),
        ({"q": "nora"}, ["Nora Nemo"]),
        ({"version": 1}, ["Nora Nemo", "Bob Brandt"]),
        ({"version": 2}, []),
        ({"version": "x"}, []),
        ({"from": "soon"}, []),
    ],
)
async def test_the_filters_of_responses_narrow_it(
    meal: Stored, vera: Browser, query: dict[str, str], people: list[str]
) -> None:
    assert [row["Person"] for row in await table(vera, meal, **query)] == people


async def test_a_choice_narrows_it_too(meal: Stored, vera: Browser) -> None:
    stars = meal.questions[0].key
    assert [row["Person"] for row in await table(vera, meal, question=stars, choice=2)] == ["Bob Brandt"]


async def test_a_question_that_would_run_as_a_formula_is_a_text_in_the_heading(parts: Parts, vera: Browser) -> None:
    async with parts.database.transaction() as db:
        survey = await published(db, questions=[{"label": "=1+1", "type": "free_text"}])
    answer = await vera.get(address(survey))
    assert answer.text.startswith("'=1+1,")


async def test_json_lines_name_questions_by_their_ids(meal: Stored, vera: Browser) -> None:
    first = json.loads((await vera.get(address(meal, export="jsonl"))).text.splitlines()[0])
    stars, much, _, several, why = [str(one.key) for one in meal.questions]
    assert (first[stars], first[much], first[f"{several}/bread"]) == (4, "much", 0)
    assert (first[why], first["person"]) == ("Nora was served cold soup", "Nora Nemo")
    assert first["recorded_at"] == "2026-11-21T08:00:00.250000Z"


async def test_in_excel_numbers_are_numbers_and_times_are_times(meal: Stored, vera: Browser) -> None:
    answer = await vera.get(address(meal, export="xlsx"))
    assert answer.headers["content-disposition"].startswith('attachment; filename="survey-responses-')
    sheet = openpyxl.load_workbook(io.BytesIO(answer.content)).worksheets[0]
    rows = [dict(zip((one.value for one in sheet[1]), row, strict=True)) for row in sheet.iter_rows(min_row=2)]
    assert [row["Stars?"].value for row in rows] == [4, 2]
    assert [row["Why?"].value for row in rows] == ["Nora was served cold soup", "=1+1"]
    assert {row["Why?"].data_type for row in rows} == {"s"}
    assert rows[0]["Recorded"].value == AT.replace(tzinfo=None)


async def test_what_erased_people_wrote_and_who_they_were_is_empty(meal: Stored, parts: Parts, vera: Browser) -> None:
    await erase(parts.database, "nora")
    nora = (await table(vera, meal))[0]
    assert nora["Person"] == "Erased person"
    assert nora["Stars?"] == "4"
    gone = ("Why?", "E-mail", "User type (today)", "Department (today)", "Workspace", "First shown")
    assert {nora[name] for name in gone} == {""}


async def test_all_versions_share_the_columns_of_their_questions(meal: Stored, parts: Parts, vera: Browser) -> None:
    stars = {"key": meal.questions[0].key, "label": "How many stars?", "type": "star_rating"}
    twice = {"label": "How many stars?", "type": "free_text"}
    async with parts.database.transaction() as db:
        changed = defined(title="Lunch", questions=[stars, twice])
        await authoring.save(db, COMMAND_LINE, meal.uid, changed, revision=None, new_version=True, ceiling="full")
        newer = await authoring.load(db, meal.uid)
    await record(parts.database, parts.keys, newer, await user_id(parts.database, "nora"), 5, "Good", recorded_at=LATER)
    rows = await table(vera, meal)
    assert [row["How many stars?"] for row in rows] == ["4", "2", "5"]
    assert [row["How many stars? (2)"] for row in rows] == ["", "", "Good"]
    assert [row["Why?"] for row in rows] == ["Nora was served cold soup", "'=1+1", ""]
    assert list((await table(vera, meal, version=2))[0])[:3] == ["How many stars?", "How many stars? (2)", "Person"]


async def test_an_agreement_and_a_scale_of_numbers_read_as_such(parts: Parts, vera: Browser) -> None:
    asked = [CONSENT, {"label": "How?", "type": "scale", "options": ["1", "2", "10"]}]
    async with parts.database.transaction() as db:
        consent = await published(db, title="Doors", type="consent", questions=asked)
    nora, bob = [await user_id(parts.database, short) for short in ("nora", "bob")]
    await record(parts.database, parts.keys, consent, nora, None, "10", outcome="agreed")
    await record(parts.database, parts.keys, consent, bob, None, None, outcome="declined")
    assert [row[CONSENT["label"]] for row in await table(vera, consent)] == ["Agree", "Disagree"]
    rows = [json.loads(line) for line in (await vera.get(address(consent, export="jsonl"))).text.splitlines()]
    assert [row[str(consent.questions[1].key)] for row in rows] == [10, None]


async def test_without_a_survey_or_in_another_shape_it_is_refused(meal: Stored, vera: Browser) -> None:
    answer = await vera.get("/surveys/responses?shape=table&export=csv")
    assert (answer.status_code, "Choose a survey first" in answer.text) == (422, True)
    assert (await vera.get(address(meal, shape="cube"))).status_code == 422


async def test_both_pages_offer_it_for_one_survey(meal: Stored, vera: Browser) -> None:
    offered = f"/surveys/responses?survey={meal.uid}&amp;version=1&amp;shape=table&amp;export="
    page = (await vera.get(f"/surveys/view/{meal.uid}")).text
    assert [kind for kind in ("csv", "xlsx", "jsonl") if offered + kind in page] == ["csv", "xlsx", "jsonl"]
    assert "Table, Excel" in (await vera.get(f"/surveys/responses?survey={meal.uid}")).text
    assert "Table, Excel" not in (await vera.get("/surveys/responses")).text


async def test_another_workspace_can_not_read_the_table(meal: Stored, eve: Browser, sign_in: SignIn) -> None:
    assert (await eve.get(address(meal))).status_code == 404
    assert (await (await sign_in("nora")).get(address(meal))).status_code == 403


class TestCommand:
    """`surveys:responses`."""

    @staticmethod
    async def rows(muster: CommandLine, *arguments: Any) -> list[dict[str, str]]:
        return read((await muster("surveys:responses", *arguments)).out)

    async def test_it_writes_what_the_page_exports(self, muster: CommandLine, meal: Stored, vera: Browser) -> None:
        assert await self.rows(muster, meal.uid) == await table(vera, meal)
        assert await self.rows(muster, meal.uid, "--all-versions", "--from", "2026-11-22") == await table(
            vera, meal, **{"from": "2026-11-22"}
        )
        assert await self.rows(muster, meal.uid, "--outcome", "opted_out") == []
        lines = (await muster("surveys:responses", meal.uid, "--format", "jsonl")).out
        assert lines == (await vera.get(address(meal, export="jsonl"))).text

    async def test_it_writes_files_and_leaves_no_half_of_one(
        self, muster: CommandLine, meal: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "lunch.xlsx"
        await muster("surveys:responses", meal.uid, "--format", "xlsx", "--output", file)
        assert openpyxl.load_workbook(file).worksheets[0]["A2"].value == 4
        await muster("surveys:responses", meal.uid, "--bom", "--output", tmp_path / "lunch.csv")
        assert (tmp_path / "lunch.csv").read_bytes().startswith(b"\xef\xbb\xbfStars?,")
        other = tmp_path / "none.csv"
        missing = await muster("surveys:responses", meal.uid, "--version", 9, "--output", other)
        assert (missing.code, other.exists()) == (0, True)
        assert read(other.read_text()) == []

    async def test_a_file_that_it_can_not_open_stays_as_it_is(
        self, muster: CommandLine, meal: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)  # the address of a socket is short
        with socket.socket(socket.AF_UNIX) as held:
            held.bind("held")  # also root opens no socket
            ended = await muster("surveys:responses", meal.uid, "--output", tmp_path / "held")
        assert ended.refusal.startswith(f"{tmp_path / 'held'} can't be used: ")
        assert (tmp_path / "held").is_socket()

    async def test_a_file_that_is_not_complete_is_removed(self, tmp_path: Path) -> None:
        async def breaks_off() -> AsyncGenerator[bytes]:
            yield b"Stars?"
            yield b",Comment"
            raise ConnectionError("gone")

        with pytest.raises(ConnectionError, match="gone"):
            await survey_responses._write(breaks_off(), tmp_path / "half.csv")
        assert not (tmp_path / "half.csv").exists()

    async def test_it_refuses_what_is_not_there_and_both_versions_at_once(
        self, muster: CommandLine, meal: Stored
    ) -> None:
        wrong = await muster("surveys:responses", meal.uid, "--workspace", "globex")
        assert wrong.refusal == "There is no such survey."
        assert (await muster("surveys:responses", meal.uid, "--version", 1, "--all-versions")).code == 2
