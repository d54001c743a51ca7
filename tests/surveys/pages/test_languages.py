"""`/surveys/languages/<uid>`: a survey translated, one language at a time, and *Try it* in each."""

import re
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from msgspec import structs

from app.db.session import Database
from app.parts import Parts
from app.surveys import languages_shown
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import translated_texts
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.stored import Stored
from app.surveys.authoring.translating import with_translations
from app.surveys.pages.editing.gaps import gaps, to_check
from app.surveys.translations import QuestionTexts, SurveyTexts
from tests.conftest import Browser, SignIn
from tests.rendered_forms import Rendered
from tests.surveys.authored import ANN, answer, publish, read, save
from tests.surveys.translated import CHOICE, translated


@pytest.fixture
async def lunch(database: Database) -> Stored:
    async with database.transaction() as db:
        uid = await authoring.create(db, ANN, translated(), "full")
        return await authoring.load(db, uid)


@pytest.fixture
async def alice(sign_in: SignIn) -> Browser:
    return await sign_in("alice")


def at(stored: Stored, to: str = "") -> str:
    return f"/surveys/languages/{stored.uid}" + (f"?to={to}" if to else "")


def form_of(stored: Stored, tag: str, **typed: str) -> dict[str, str]:
    """What the page sends, with some texts typed."""
    texts = {name: one.text for name, one in translated_texts.texts_of(stored.definition, tag).items()}
    return {"to": tag, "revision": str(stored.revision), **texts, **typed}


def test_what_is_missing_is_counted() -> None:
    plain = translated()
    stored = replace(plain, questions=tuple(replace(one, key=UUID(int=n)) for n, one in enumerate(plain.questions)))
    keyed = [one.called for one in translated_texts.texts_of(stored, "de").values()]
    assert len(keyed) == len(set(translated_texts.texts_of(stored, "de")))
    assert translated_texts.missing(stored, "de") == 1  # the text of the stars
    assert translated_texts.missing(stored, "tr") == len(keyed)
    missing = translated_texts.missing(stored, "ar")
    assert set(gaps(stored)) == {
        f"Deutsch (de): 1 of {len(keyed)} texts is missing",
        f"العربية (ar): {missing} of {len(keyed)} texts are missing",
    }


async def test_the_editor_and_the_question_before_publishing_say_what_is_missing(alice: Browser, lunch: Stored) -> None:
    told = "Deutsch (de): 1 of"
    for page in (f"/surveys/edit/{lunch.uid}", f"/surveys/publish/{lunch.uid}"):
        assert told in (await alice.get(page)).text
    stars = {f"label-{one.key}": "Alles in allem" for one in lunch.questions if one.type == "star_rating"}
    assert (await alice.submit(at(lunch), form_of(lunch, "de", **stars))).status_code == 303
    assert told not in (await alice.get(f"/surveys/publish/{lunch.uid}")).text


def test_translations_that_stayed_while_their_text_changed_are_named() -> None:
    plain = translated()
    before = replace(plain, questions=tuple(replace(one, key=UUID(int=n)) for n, one in enumerate(plain.questions)))
    assert to_check(before, before) == ""
    first, *others = before.questions
    title = replace(before, title="Supper")
    assert to_check(before, title).endswith("Check them: Title.")
    both = replace(title, questions=(replace(first, label="How bad?"), *others))
    assert to_check(before, both).endswith("Check them: Title, Question 1.")
    new = structs.replace(before.translations["de"], title="Abendessen")
    assert to_check(before, replace(title, translations={"de": new})) == ""


async def test_saving_a_changed_text_names_its_translations(alice: Browser, lunch: Stored) -> None:
    url = f"/surveys/save/{lunch.uid}"
    forms = Rendered((await alice.get(f"/surveys/edit/{lunch.uid}")).text, "/").forms
    (sent,) = [one.untouched() for one in forms if one.action == url]
    sent["question"] = sent["question"][:-1]
    assert (await alice.post(url, data={**sent, "title": "Supper"})).status_code == 303
    page = (await alice.get(f"/surveys/edit/{lunch.uid}")).text
    assert "The text changed, the translations stayed. Check them: Title." in page


async def test_the_question_before_a_new_version_says_what_it_would_lack(
    alice: Browser, lunch: Stored, database: Database, parts: Parts
) -> None:
    url = f"/surveys/save/{lunch.uid}"
    await publish(database, lunch)
    await answer(parts, await read(database, lunch.uid))
    forms = Rendered((await alice.get(f"/surveys/edit/{lunch.uid}")).text, "/").forms
    (sent,) = [one.untouched() for one in forms if one.action == url]
    sent["question"] = sent["question"][:-1]  # the last one is the empty row that the script copies
    more = {"options-q1": "Good\nBad\nGift\nNothing"}
    for status, asked, total in ((200, {"new_version": "1"}, 20), (409, more, 21)):
        shown = await alice.post(url, data={**sent, **asked})
        assert (shown.status_code, "What changes" in shown.text) == (status, True)
        assert f"Deutsch (de): {total - 19} of {total} text" in shown.text
        assert f'href="{at(lunch)}"' not in shown.text  # what was typed is not there yet


@pytest.mark.parametrize(
    ("then", "typed", "now", "merged"),
    [
        ("a", "a", "b", "b"),
        ("a", "c", "a", "c"),
        ("a", "c", "b", "c"),
        ("a", "", "b", ""),
    ],
)
def test_a_stale_sheet_keeps_what_was_typed(then: str, typed: str, now: str, merged: str) -> None:
    def titled(text: str) -> Definition:
        return translated(translations={"de": SurveyTexts(text)})

    found = translated_texts.merged(titled(then), {"title": typed}, titled(now), "de")
    assert found["title"] == merged


@pytest.mark.parametrize(
    ("now", "merged"),
    [
        (("Good", "Bad", "Gift"), ("Gut", "Übel", "Geschenk")),
        (("Bad", "Gift"), ("Übel", "Geschenk")),
        (("Gift", "Bad", "Good"), ("Geschenk", "Übel", "Gut")),
        (("New", "Good", "Bad"), ("", "Gut", "Übel")),
        (("Good", "Gift"), ("Gut", "Geschenk")),
    ],
)
def test_a_stale_sheet_keeps_each_text_beside_its_own_option(now: tuple[str, ...], merged: tuple[str, ...]) -> None:
    then = translated(questions=(replace(CHOICE, key=UUID(int=1)),))
    fresh = replace(then.questions[0], options=now, translations={})
    saved = with_translations(replace(then, questions=(fresh,)), then)
    at = f"options-{UUID(int=1)}"
    found = translated_texts.merged(then, {f"{at}-1": "Übel"}, saved, "de")
    assert tuple(found[f"{at}-{place}"] for place in range(len(now))) == merged


async def test_the_page_shows_each_text_beside_its_translation(alice: Browser, lunch: Stored) -> None:
    shown = (await alice.get(at(lunch, "ar"))).text
    assert 'lang="ar"' in shown
    assert "الغداء" in shown
    assert "1 of 20 missing" in shown
    assert "18 of 20 missing" in shown
    assert shown.count('dir="auto"') >= 20
    assert "What did you eat?" in shown


async def test_a_language_is_added_and_saved(alice: Browser, lunch: Stored, database: Database) -> None:
    empty = await alice.get(at(lunch, "TR"))
    assert empty.status_code == 200
    key = lunch.questions[0].key
    typed = {"title": " Öğle ", "message": "Bir\n\niki", f"label-{key}": "Nasıldı?", f"options-{key}-1": "Kötü"}
    sent = await alice.submit(at(lunch), form_of(lunch, "tr", **typed))
    assert sent.status_code == 303
    stored = await read(database, lunch.uid)
    assert stored.definition.translations["tr"] == SurveyTexts("Öğle", "<p>Bir</p>\n<p>iki</p>")
    assert stored.questions[0].translations["tr"] == QuestionTexts("Nasıldı?", ("", "Kötü", ""))
    assert stored.definition.translations["de"] == lunch.definition.translations["de"]
    await alice.submit(at(stored), form_of(stored, "tr"))
    assert (await read(database, lunch.uid)).revision == stored.revision


@pytest.mark.parametrize("to", ["d_e", "en", "x" * 40])
async def test_what_is_not_another_language_is_refused(alice: Browser, lunch: Stored, to: str) -> None:
    assert (await alice.get(at(lunch, to))).status_code == 422
    assert (await alice.submit(at(lunch), {"to": to, "revision": "1"})).status_code == 422


async def test_what_is_wrong_is_said_at_its_field(alice: Browser, lunch: Stored, database: Database) -> None:
    key = lunch.questions[0].key
    odd = form_of(lunch, "de", title="x" * 201, **{f"options-{key}-0": "Schlecht"})
    refused = await alice.submit(at(lunch), odd)
    assert refused.status_code == 422
    assert 'href="#f-title"' in refused.text
    assert f'href="#f-options-{key}-0"' in refused.text
    assert (await read(database, lunch.uid)).revision == lunch.revision


async def test_a_sheet_that_is_stale_is_refused_with_what_was_typed(
    alice: Browser, lunch: Stored, database: Database
) -> None:
    texts = {**lunch.definition.translations, "de": SurveyTexts("Essen", "<p>Neu.</p>", "<p>Danke!</p>")}
    await save(database, lunch, translations=texts)
    refused = await alice.submit(at(lunch), form_of(lunch, "de", title="Mahlzeit"))
    assert refused.status_code == 409
    assert 'value="Mahlzeit"' in refused.text
    assert "Neu." in refused.text
    revision = re.search(r'name="revision" value="(\d+)"', refused.text)
    assert revision is not None
    assert int(revision[1]) == lunch.revision + 1


async def test_a_stale_sheet_is_read_by_the_options_and_rows_that_it_showed(
    alice: Browser, lunch: Stored, database: Database
) -> None:
    choice, room = lunch.questions[0], lunch.questions[3]
    changed = (
        replace(choice, options=("Bad", "Gift"), translations={}),
        *lunch.questions[1:3],
        replace(room, details=structs.replace(room.details, rows=("Cold", "Loud")), translations={}),
    )
    over = with_translations(replace(lunch.definition, questions=changed), lunch.definition)
    await save(database, lunch, questions=over.questions)
    typed = {f"options-{choice.key}-2": "Gabe", f"rows-{room.key}-0": "Lärm"}
    refused = await alice.submit(at(lunch), form_of(lunch, "de", **typed))
    assert refused.status_code == 409
    values = dict(re.findall(r'name="((?:options|rows)-[^"]+)"[^>]*?value="([^"]*)"', refused.text))
    assert [values[f"options-{choice.key}-{place}"] for place in range(2)] == ["Schlecht", "Gabe"]
    assert [values[f"rows-{room.key}-{place}"] for place in range(2)] == ["Kalt", "Lärm"]


async def test_a_language_that_people_met_needs_a_new_version(
    alice: Browser, lunch: Stored, database: Database, parts: Parts
) -> None:
    await publish(database, lunch)
    lunch = await read(database, lunch.uid)
    await answer(parts, lunch)
    key = lunch.questions[0].key
    typed = {f"options-{key}-0": "Prima"}
    async with database.transaction() as db:
        await languages_shown.note(db, lunch.id, 1, "de")
    refused = await alice.submit(at(lunch), form_of(lunch, "de", **typed))
    assert refused.status_code == 409
    assert "Publish as version 2" in refused.text
    assert 'value="Prima"' in refused.text
    sent = await alice.submit(at(lunch), {**form_of(lunch, "de", **typed), "new_version": "1"})
    assert sent.status_code == 303
    stored = await read(database, lunch.uid)
    assert (stored.version, stored.questions[0].translations["de"].options[0]) == (2, "Prima")


async def test_a_language_is_removed(alice: Browser, lunch: Stored, database: Database) -> None:
    sent = await alice.submit(at(lunch), {**form_of(lunch, "de"), "remove": "1"})
    assert sent.status_code == 303
    stored = await read(database, lunch.uid)
    assert [*stored.definition.translations] == ["ar"]
    assert all("de" not in one.translations for one in stored.questions)


async def test_the_page_needs_a_sign_in_and_the_right(
    visitor: Browser, sign_in: SignIn, lunch: Stored, database: Database
) -> None:
    assert (await visitor.get(at(lunch))).status_code == 303
    assert (await (await sign_in("vera")).get(at(lunch))).status_code == 403
    alice = await sign_in("alice")
    assert (await alice.get(f"/surveys/languages/{UUID(int=9)}")).status_code == 404
    assert (await alice.get("/surveys/languages/nothing")).status_code == 404


async def test_trying_it_speaks_every_language_and_tells_what_would_be_recorded(alice: Browser, lunch: Stored) -> None:
    shown = (await alice.get(f"/surveys/try/{lunch.uid}?to=de")).text
    assert 'lang="de" dir="ltr">Mittagessen' in shown.replace("\n      ", " ").replace("  ", " ")
    assert "Schlecht" in shown
    assert f"/surveys/try/{lunch.uid}?to=ar" in shown
    sent: dict[str, Any] = {
        "survey": str(lunch.uid),
        "version": "1",
        "content_hash": "",
        "language": "de",
        "action": "answer",
        f"q-{UUID(int=1)}": "Bad",
    }
    told = (await alice.submit(f"/surveys/try/{lunch.uid}", sent)).text
    assert "Nothing was recorded" in told
    assert "Danke!" in told
