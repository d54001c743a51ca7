"""A survey in the language of the person, by the API: what is handed out, what an answer may say,
and what the ledger keeps of it."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from app.accounts.models import User
from app.db.session import Database
from app.surveys import languages_shown
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import Stored
from app.surveys.ledger import chain
from app.surveys.models import Answer, Response
from tests.surveys.asking.test_queue import nora
from tests.surveys.authored import ANN, NOW, publish, read
from tests.surveys.calling import QUEUE, RESPOND, App, refused
from tests.surveys.recording import record_as_before, verify
from tests.surveys.translated import translated

__all__ = ["nora"]
CAN = "can=nps,number,date,matrix,conditions"
GERMAN = {"choice": "Schlecht", "ticks": ["Kuchen", "Suppe"], "rows": [{"row": "Kalt", "choice": "nie"}]}
OWN = {"choice": "Bad", "ticks": ["Soup", "Cake"], "rows": [{"row": "Cold", "choice": "never"}]}


@pytest.fixture
async def lunch(database: Database) -> Stored:
    async with database.transaction() as db:
        uid = await authoring.create(db, ANN, translated(enforcement="required"), "full")
        stored = await authoring.load(db, uid)
    await publish(database, stored, NOW)
    return await read(database, uid)


async def item(app: App, query: str = "") -> dict[str, Any]:
    told = (await app.get(f"{QUEUE}?{CAN}{query}")).json()["data"]
    return dict(told[0])


def speaks(app: App, accepted: str) -> None:
    """From now on the app sends this."""
    app.headers["Accept-Language"] = accepted


async def send(app: App, told: dict[str, Any]) -> Any:
    return await app.post(RESPOND, told)


def body(stored: Stored, told: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice, ticks, _, rows, _ = stored.questions
    values = ((choice, told["choice"]), (ticks, told["ticks"]), (rows, told["rows"]))
    answers = [{"question": str(one.key), "value": value} for one, value in values]
    return {"survey": str(stored.uid), "action": "answer", "answers": answers, **more}


async def test_an_item_is_in_the_first_language_that_the_survey_has(
    nora: App, database: Database, lunch: Stored
) -> None:
    assert (await item(nora))["language"] == "en"
    speaks(nora, "fr, ja;q=0.8")
    assert (await item(nora))["language"] == "en"
    speaks(nora, "fr, de-AT;q=0.8, en;q=0.5")
    told = await item(nora)
    assert (told["language"], told["title"], told["message_text"]) == ("de", "Mittagessen", "Nur eine Minute.")
    assert (await item(nora, "&lang=ar-EG"))["title"] == "الغداء"
    assert (await item(nora, "&lang=fr"))["language"] == "de"
    async with database.shared_transaction() as db:
        await db.execute(update(User).where(User.email == "nora@example.org").values(language="ar"))
    assert (await item(nora))["language"] == "ar"
    assert (await item(nora, "&lang=en"))["title"] == "Lunch"
    opened = (await nora.get(f"/v1/api/me/surveys/open?{CAN}&lang=de")).json()["data"][0]
    assert (opened["language"], opened["title"]) == ("de", "Mittagessen")


async def test_everything_that_an_app_compares_is_in_the_language_of_the_item(nora: App, lunch: Stored) -> None:
    choice, ticks, stars, rows, why = (await item(nora, "&lang=de"))["questions"]
    assert (choice["label"], choice["options"]) == ("Wie war das Essen?", ["Gut", "Schlecht", "Geschenk"])
    assert ticks["options"] == ["Suppe", "Kuchen", "Brot"]
    assert (stars["label"], stars["low_label"], stars["high_label"]) == ("All in all", "schlecht", "gut")
    assert (rows["rows"], rows["options"]) == (["Laut", "Kalt"], ["oft", "nie"])
    assert why["show_if"] == {"question": choice["question"], "is": "in", "values": ["Schlecht", "Geschenk"]}


async def test_what_is_not_translated_stays_in_the_own_language_text_by_text(nora: App, lunch: Stored) -> None:
    told = await item(nora, "&lang=ar")
    assert (told["title"], told["message_text"]) == ("الغداء", "One minute.")
    assert (told["questions"][1]["label"], told["questions"][1]["options"]) == ("ماذا أكلت؟", ["Soup", "Cake", "Bread"])


async def test_a_survey_without_translations_gives_an_old_app_no_new_field(nora: App, database: Database) -> None:
    async with database.transaction() as db:
        uid = await authoring.create(db, ANN, translated(questions=(), translations={}, enforcement="required"), "full")
        stored = await authoring.load(db, uid)
    plain = translated(
        enforcement="required",
        translations={},
        questions=tuple(replace(one, translations={}) for one in translated().questions[:2]),
    )
    async with database.transaction() as db:
        await authoring.save(db, ANN, uid, plain, revision=stored.revision, ceiling="full")
    await publish(database, stored, NOW)
    speaks(nora, "de")
    assert "language" not in (await nora.get(QUEUE)).json()["data"][0]
    assert (await nora.get(f"{QUEUE}?lang=de")).json()["data"][0]["language"] == "en"
    answers = [{"question": str(one.key), "value": "Bad"} for one in (await read(database, uid)).questions[:1]]
    sent = await send(nora, {"survey": str(uid), "action": "answer", "answers": answers})
    assert sent.json()["data"]["status"] == "recorded"
    async with database.transaction() as db:
        row = (await db.scalars(select(Response))).one()
    assert (row.language, '"language"' in row.entry) == (None, False)


async def test_an_answer_counts_as_the_survey_s_own_option(nora: App, database: Database, lunch: Stored) -> None:
    told = body(lunch, GERMAN, language="de-CH")
    first = (await send(nora, told)).json()["data"]
    assert (first["status"], first["closing_html"]) == ("recorded", "<p>Danke!</p>")
    async with database.transaction() as db:
        choices = set(await db.scalars(select(Answer.choice)))
        row = (await db.scalars(select(Response))).one()
    assert choices == {"Bad", "Soup", "Cake", "Cold\tnever"}
    assert (row.language, chain.read(row.entry).language) == ("de", "de")
    # The same once more, in any of its languages, and also once there is another version.
    for again in (told, body(lunch, GERMAN, language="de"), body(lunch, OWN), body(lunch, OWN, language="fr")):
        assert (await send(nora, again)).json()["data"]["receipt"] == first["receipt"]
    other = await send(nora, body(lunch, {**GERMAN, "choice": "Gut"}, language="de"))
    assert refused(other) == (404, "survey_not_found")
    async with database.transaction() as db:
        await authoring.save(db, ANN, lunch.uid, lunch.definition, revision=None, new_version=True, ceiling="full")
    again = await send(nora, {**told, "version": 1})
    assert again.json()["data"]["receipt"] == first["receipt"]
    assert (await verify(database, "main")).fits


async def test_a_text_is_looked_up_in_that_language_alone(nora: App, lunch: Stored) -> None:
    for odd in (
        body(lunch, OWN, language="de"),
        body(lunch, {**GERMAN, "choice": "Gift"}, language="de"),
        body(lunch, GERMAN),
    ):
        sent = await send(nora, odd)
        assert refused(sent) == (422, "invalid_answers")
        assert str(lunch.questions[0].key) in sent.text
    # A condition holds in every language: the last question is shown after "Schlecht" alone.
    why = {"question": str(lunch.questions[4].key), "value": "Kalt"}
    good = body(lunch, {**GERMAN, "choice": "Gut"}, language="de")
    sent = await send(nora, {**good, "answers": [*good["answers"], why]})
    assert refused(sent) == (422, "invalid_answers")
    bad = body(lunch, GERMAN, language="de")
    sent = await send(nora, {**bad, "answers": [*bad["answers"], why]})
    assert sent.json()["data"]["status"] == "recorded"


async def test_without_a_language_the_request_decides(nora: App, database: Database, lunch: Stored) -> None:
    speaks(nora, "de")
    sent = await send(nora, body(lunch, GERMAN))
    assert sent.json()["data"]["status"] == "recorded"


async def test_a_language_counts_as_shown_from_the_first_time_on(nora: App, database: Database, lunch: Stored) -> None:
    async def shown() -> frozenset[str]:
        async with database.transaction() as db:
            return await languages_shown.shown(db, lunch.id, 1)

    await item(nora)
    assert await shown() == frozenset()
    await item(nora, "&lang=de")
    assert await shown() == {"de"}
    # An app may have its texts from elsewhere: what it answers in was shown, too.
    sent = await send(nora, body(lunch, OWN, language="ar"))
    assert sent.json()["data"]["status"] == "recorded"
    assert await shown() == {"ar", "de"}


async def test_the_ledger_holds_rows_with_and_without_a_language(nora: App, database: Database, lunch: Stored) -> None:
    await record_as_before(database, lunch, 1, prompted=True)
    await send(nora, body(lunch, GERMAN, language="de"))
    assert (await verify(database, "main")).fits
