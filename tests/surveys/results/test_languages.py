"""Answers in several languages: counted together, read in the words that the person saw, told in lists,
tables and splits."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import Stored
from app.surveys.ledger.chain import MatrixCell
from app.surveys.mine import wordings
from app.surveys.translations import QuestionTexts, SurveyTexts
from tests.conftest import Browser, SignIn
from tests.surveys.authored import ANN, publish, read, save_as
from tests.surveys.drafted import CONSENT, defined
from tests.surveys.recording import record, user_id
from tests.surveys.translated import translated

SAID = ("Bad", ("Soup", "Cake"), 4, (MatrixCell("Cold", "never"),), "Zu kalt")


async def made(database: Database, **fields: Any) -> Stored:
    async with database.transaction() as db:
        definition = fields.pop("definition", None) or translated(**fields)
        stored = await authoring.load(db, await authoring.create(db, ANN, definition, "full"))
    await publish(database, stored)
    return await read(database, stored.uid)


@pytest.fixture
async def lunch(database: Database, parts: Parts) -> Stored:
    """Answered by Nora in German, by Vera in English."""
    stored = await made(database)
    for short, tag in (("nora", "de"), ("vera", "en")):
        await record(database, parts.keys, stored, await user_id(database, short), *SAID, language=tag)
    return stored


async def test_a_person_reads_their_answer_in_the_words_that_they_saw(lunch: Stored, sign_in: SignIn) -> None:
    nora = await sign_in("nora")
    told = json.loads((await nora.get("/me/answers/download")).text)["answers"][0]
    assert (told["language"], told["title"], told["message_text"]) == ("de", "Mittagessen", "Nur eine Minute.")
    values = [one["value"] for one in told["questions"]]
    assert values == ["Schlecht", ["Suppe", "Kuchen"], 4, [{"row": "Kalt", "choice": "nie"}], "Zu kalt"]
    assert told["questions"][0]["options"] == ["Gut", "Schlecht", "Geschenk"]
    shown = (await nora.get(f"/me/answers/{told['receipt']}")).text
    assert 'lang="de" dir="ltr">Mittagessen' in shown
    # The last question has a condition on the first: it holds in German, too.
    assert "Not asked because of" not in shown
    vera = await sign_in("vera")
    own = json.loads((await vera.get("/me/answers/download")).text)["answers"][0]
    assert (own["language"], own["title"], own["questions"][0]["value"]) == ("en", "Lunch", "Bad")


async def test_the_response_and_the_lists_name_the_language(lunch: Stored, alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        receipt = await db.scalar(text("SELECT encode(row_hash, 'hex') FROM survey_responses WHERE language = 'de'"))
    shown = (await alice.get(f"/surveys/response_modal/{receipt}")).text
    for part in ("Mittagessen", "Schlecht", "<dt>Language</dt><dd>de</dd>"):
        assert part in shown
    rows = (await alice.get(f"/surveys/responses?survey={lunch.uid}&shape=table&export=jsonl")).text.splitlines()
    assert sorted((one["language"], one[str(lunch.questions[0].key)]) for one in map(json.loads, rows)) == [
        ("de", "Bad"),
        ("en", "Bad"),
    ]
    narrowed = (await alice.get("/surveys/responses?language=DE&export=jsonl&columns=all")).text.splitlines()
    assert len(narrowed) == 1
    assert (await alice.get("/surveys/responses?language=de")).text.count("/surveys/response_modal/") == (
        await alice.get("/surveys/responses?language=en")
    ).text.count("/surveys/response_modal/")
    assert "No response" in (await alice.get("/surveys/responses?language=tr")).text


async def test_all_languages_count_together_and_can_be_split(lunch: Stored, alice: Browser) -> None:
    whole = (await alice.get(f"/surveys/view/{lunch.uid}")).text
    assert "Schlecht" not in whole
    split = (await alice.get(f"/surveys/view/{lunch.uid}?split=language")).text
    assert "By language" in split
    assert all(f">{name}<" in split for name in ("Deutsch (de)", "English (en)"))


async def test_the_definition_names_the_languages(lunch: Stored, alice: Browser) -> None:
    page = (await alice.get(f"/surveys/view/{lunch.uid}")).text
    assert re.search(r"<dt>Languages</dt>\s*<dd>English \(en\), .*Deutsch \(de\)</dd>", page)


async def test_an_agreement_may_be_given_again_though_a_language_came_since(
    database: Database, parts: Parts, sign_in: SignIn
) -> None:
    stored = await made(database, definition=defined(title="Badge", type="consent", questions=[CONSENT]))
    nora = await sign_in("nora")
    row = await record(
        database,
        parts.keys,
        stored,
        await user_id(database, "nora"),
        None,
        outcome="agreed",
        recorded_at=stored.published_at,
    )
    await nora.submit(f"/me/answers/{row.receipt}/withdraw")
    more = replace(
        stored.definition,
        translations={"tr": SurveyTexts("Rozet")},
        questions=tuple(replace(one, translations={"tr": QuestionTexts("Evet")}) for one in stored.questions),
    )
    await save_as(database, stored, more)
    assert "Agree again" in (await nora.get(f"/me/answers/{row.receipt}")).text


@pytest.mark.parametrize(
    ("changed", "language", "same"),
    [
        ({}, "de", True),
        ({"translations": {"de": translated().translations["de"], "tr": SurveyTexts("Öğle")}}, "de", True),
        ({"translations": {"de": SurveyTexts("Essen")}}, "de", False),
        ({"translations": {"de": SurveyTexts("Essen")}}, "en", True),
        ({"title": "Dinner"}, "de", False),
        ({"language": "en-GB"}, None, True),
    ],
)
def test_what_says_the_same_to_whom(changed: dict[str, Any], language: str | None, same: bool) -> None:
    assert wordings.same(translated().content, translated(**changed).content, language) is same
