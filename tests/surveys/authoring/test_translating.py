"""Translations of a survey: their rules, their place in files and in the content hash, how they are stored,
and when they may change."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from app.db.session import Database
from app.errors import Invalid
from app.parts import Parts
from app.surveys import languages_shown
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import files
from app.surveys.authoring.actions import NeedsNewVersion
from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.authoring.stored import Stored
from app.surveys.authoring.translating import with_translations
from app.surveys.translations import QuestionTexts, SurveyTexts
from tests.surveys.authored import ANN, answer, publish, read, save, save_as
from tests.surveys.drafted import CONSENT, defined
from tests.surveys.translated import CHOICE, QUESTIONS, STARS, TEXTS, TICKS, WHY, translated


def asked(question: QuestionDefinition, **texts: QuestionTexts) -> QuestionDefinition:
    return replace(question, translations=texts)


def with_key(place: int, question: QuestionDefinition) -> QuestionDefinition:
    return replace(question, key=UUID(int=place))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"language": "not a tag"}, "language"),
        ({"language": "de"}, "translations.de"),
        ({"translations": {"d_e": SurveyTexts("x")}}, "translations.d_e"),
        ({"translations": {"de": SurveyTexts("two\nlines")}}, "translations.de.title"),
        ({"translations": {"de": SurveyTexts(message="x" * 20_001)}}, "translations.de.message"),
        ({"translations": {"de": SurveyTexts(closing_html="<b>" * 1001)}}, "translations.de.closing_html"),
        ({"questions": (asked(CHOICE, de=QuestionTexts("x" * 1001)),)}, "translations.de.questions.0.label"),
        ({"questions": (asked(CHOICE, de=QuestionTexts(options=("a", "b"))),)}, "translations.de.questions.0.options"),
        (
            {
                "questions": (
                    asked(
                        CHOICE,
                        de=QuestionTexts(options=("a", "a", "")),
                    ),
                )
            },
            "translations.de.questions.0.options",
        ),
        ({"questions": (asked(WHY, de=QuestionTexts(options=("a",))),)}, "translations.de.questions.0.options"),
        ({"questions": (asked(CHOICE, de=QuestionTexts(rows=("a",))),)}, "translations.de.questions.0.rows"),
        ({"questions": (asked(CHOICE, de=QuestionTexts(low_label="a")),)}, "translations.de.questions.0.low_label"),
        (
            {"translations": {f"a{chr(97 + n // 26)}{chr(97 + n % 26)}": SurveyTexts("x") for n in range(31)}},
            "translations",
        ),
        ({"translations": {f"a{chr(97 + n)}": SurveyTexts(message="x" * 20_000) for n in range(11)}}, "translations"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(changed: dict[str, Any], field: str) -> None:
    changed = {"questions": (replace(STARS, translations={}),), **changed}
    with pytest.raises(Invalid) as refused:
        translated(**changed)
    assert field in [one.field for one in refused.value.details]


def test_languages_are_stored_in_one_spelling_and_only_where_something_is_translated() -> None:
    told = translated(
        language="EN-gb",
        translations={"DE-at": SurveyTexts(" Essen "), "fr": SurveyTexts(" "), "tr": SurveyTexts()},
        questions=(asked(CHOICE, tr=QuestionTexts("Nasıldı?"), fr=QuestionTexts(options=("", " ", ""))),),
    )
    assert told.language == "en-GB"
    assert told.translations == {"de-AT": SurveyTexts("Essen"), "tr": SurveyTexts()}
    assert told.questions[0].translations == {"tr": QuestionTexts("Nasıldı?")}


def test_one_hash_covers_all_languages_and_the_own_one_counts_only_beside_others() -> None:
    plain = translated(translations={}, questions=tuple(asked(one) for one in QUESTIONS))
    assert '"language"' not in plain.content
    assert plain.content_hash == replace(plain, language="de").content_hash
    told = json.loads(translated().content)
    assert told["language"] == "en"
    assert told["translations"]["ar"] == {"title": "الغداء", "questions": {"2": {"label": "ماذا أكلت؟"}}}
    hashes = {
        one.content_hash
        for one in (
            plain,
            translated(),
            translated(language="en-GB"),
            translated(translations={**TEXTS, "tr": SurveyTexts("Öğle")}),
            translated(questions=(asked(CHOICE, de=QuestionTexts("Wie?")), *QUESTIONS[1:])),
        )
    }
    assert len(hashes) == 5


def test_a_file_keeps_every_language() -> None:
    told = translated()
    assert files.read(json.dumps(files.document(told)).encode()) == told
    assert files.document(told)["translations"]["ar"]["questions"] == {"q2": {"label": "ماذا أكلت؟"}}


def test_a_file_without_languages_is_in_english() -> None:
    plain = files.read(b'{"title": "Lunch", "type": "feedback", "enforcement": "optional"}')
    assert (plain.language, plain.translations) == ("en", {})


@pytest.mark.parametrize(
    ("translations", "field"),
    [
        ({"de": {"title": "a"}, "DE": {"title": "b"}}, "translations.DE"),
        ({"de": {"questions": {"q9": {"label": "a"}}}}, "translations.de.questions"),
        ({"de": {"labels": "a"}}, "translations.de.labels"),
        ({"de": {"questions": {"q2": {"options": "a"}}}}, "translations.de.questions.q2.options"),
    ],
)
def test_a_file_with_odd_languages_is_refused_by_name(translations: Any, field: str) -> None:
    document = {**files.document(translated()), "translations": translations}
    with pytest.raises(Invalid) as refused:
        files.from_document(document)
    assert [one.field for one in refused.value.details] == [field]


def test_a_question_that_changes_keeps_the_translations_of_what_stays() -> None:
    stored = translated()
    changed = replace(CHOICE, options=("Bad", "Fair", "Good"), translations={})
    now = replace(asked(STARS), type="nps")
    gone = replace(asked(QUESTIONS[3]), type="single_choice", details=WHY.details)
    # As the editor's form sends them: the keys tell which is which.
    keyed = replace(stored, questions=tuple(map(with_key, range(5), stored.questions)))
    questions = tuple(map(with_key, range(4), (changed, asked(TICKS), now, gone)))
    typed = replace(stored, translations={}, questions=questions)
    both = with_translations(typed, keyed)
    assert both.translations == stored.translations
    assert both.questions[0].translations["de"].options == ("Schlecht", "", "Gut")
    assert both.questions[1].translations == TICKS.translations
    assert both.questions[2].translations["de"].low_label == "schlecht"
    assert both.questions[3].translations["de"] == QuestionTexts("Der Raum", ("oft", "nie"))


async def stored_survey(database: Database, definition: Definition | None = None) -> Stored:
    async with database.transaction() as db:
        uid = await authoring.create(db, ANN, definition or translated(), "full")
        stored = await authoring.load(db, uid)
    await publish(database, stored)
    return await read(database, uid)


async def test_what_is_stored_is_read_again_and_copied(database: Database) -> None:
    stored = await stored_survey(database)
    assert stored.definition.content_hash == stored.content_hash
    assert stored.definition.translations == translated().translations
    assert [one.translations for one in stored.questions] == [one.translations for one in translated().questions]
    async with database.transaction() as db:
        copy = await authoring.load(db, await authoring.duplicate(db, ANN, stored.uid, "full"))
    assert [one.translations for one in copy.questions] == [one.translations for one in stored.questions]


def in_turkish(definition: Definition) -> Definition:
    texts = {"tr": QuestionTexts("Kabul ediyorum.")}
    return replace(
        definition,
        translations={**definition.translations, "tr": SurveyTexts("Rozet")},
        questions=tuple(replace(one, translations={**one.translations, **texts}) for one in definition.questions),
    )


async def test_a_consent_with_answers_takes_a_language_that_was_not_shown_yet(database: Database, parts: Parts) -> None:
    stored = await stored_survey(database, defined(title="Badge", type="consent", questions=[CONSENT]))
    await answer(parts, stored)
    saved = await save_as(database, stored, replace(in_turkish(stored.definition), language="en-GB"))
    assert (saved.stored.version, saved.stored.content_hash != stored.content_hash) == (1, True)
    # It may also change, as long as it was shown to no person.
    changed = {"tr": SurveyTexts("Kart")}
    assert (await save(database, saved.stored, translations=changed)).stored.version == 1


async def test_a_language_that_was_shown_is_content(database: Database, parts: Parts) -> None:
    stored = await stored_survey(database, in_turkish(defined(title="Badge", type="consent", questions=[CONSENT])))
    async with database.transaction() as db:
        await languages_shown.note(db, stored.id, 1, "tr")
        await languages_shown.note(db, stored.id, 1, "tr")
    # Without an answer the whole version may change.
    stored = (await save(database, stored, translations={"tr": SurveyTexts("Kart")})).stored
    await answer(parts, stored)
    for translations in ({"tr": SurveyTexts("Rozet")}, {}):
        kept = stored.questions if translations else tuple(replace(one, translations={}) for one in stored.questions)
        with pytest.raises(NeedsNewVersion) as refused:
            await save(database, stored, translations=translations, questions=kept)
        assert refused.value.differences[0].language == "tr"
    with pytest.raises(NeedsNewVersion):
        await save(database, stored, language="en-GB")
    told = (await save(database, stored, translations={"tr": SurveyTexts("Rozet")}, new_version=True)).stored
    async with database.transaction() as db:
        assert await languages_shown.shown(db, told.id, 2) == frozenset()
        assert await languages_shown.shown(db, told.id, 1) == {"tr"}


async def test_where_people_agree_to_nothing_a_shown_language_takes_corrections_of_its_texts(
    database: Database, parts: Parts
) -> None:
    stored = await stored_survey(database)
    async with database.transaction() as db:
        await languages_shown.note(db, stored.id, 1, "de")
    await answer(parts, stored)
    texts = {**stored.definition.translations, "de": SurveyTexts("Das Mittagessen")}
    stored = (await save(database, stored, translations=texts)).stored
    first, *others = stored.questions
    other = QuestionTexts("Wie war es?", ("Gut", "Übel", "Geschenk"))
    with pytest.raises(NeedsNewVersion) as refused:
        await save(database, stored, questions=(replace(first, translations={"de": other}), *others))
    assert [one.name for one in refused.value.differences] == ["Translation (de): Question 1, options"]
