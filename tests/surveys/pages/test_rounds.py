"""The rounds of a survey as a series, when the next one comes, and what stops them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import opening
from app.surveys.authoring.stored import Stored
from app.surveys.rounds.repeats import Repeat
from tests.conftest import Browser, SignIn
from tests.markup import squeezed
from tests.surveys import authored
from tests.surveys.recording import record, user_id

TODAY = datetime.now(UTC).date()
NPS = {"label": "Would you recommend us?", "type": "nps"}
STARS = {"label": "How was it?", "type": "star_rating"}
LONG = "What would you change about the way in which we plan our shifts, and why? " * 5


async def three_rounds(parts: Parts, workspace: str = "main") -> Stored:
    """The last one is today's; a score of 10, none at all, and 0 and 10."""
    days = Repeat("days", 1, TODAY - timedelta(days=2), days=1)
    stored = await authored.make(
        parts.database, workspace=workspace, repeat=days, questions=[NPS, STARS, {"label": LONG, "type": "free_text"}]
    )
    start = datetime.now(UTC) - timedelta(days=2)
    await authored.publish(parts.database, stored, start)
    for day, people in enumerate(({"nora": 10}, {}, {"nora": 0, "bob": 10})):
        if day:
            async with parts.database.transaction(workspace) as db:
                assert await opening.open_due(db, stored.uid, start + timedelta(days=day))
        stored = await authored.read(parts.database, stored.uid, workspace)
        for short, score in people.items():
            await record(parts.database, parts.keys, stored, await user_id(parts.database, short), score, 3)
    return stored


async def page(browser: Browser, stored: Stored) -> str:
    answer = await browser.get(f"/surveys/view/{stored.uid}/rounds")
    assert answer.status_code == 200, answer.text
    return squeezed(answer.text)


async def test_each_figure_has_a_value_for_each_round(alice: Browser, parts: Parts) -> None:
    text = await page(alice, await three_rounds(parts))
    assert "NPS by round: Would you recommend us?" in text
    assert "100.0 NPS" in text
    assert "– NPS" in text, "a round without answers is a gap"
    assert "0.0 NPS" in text
    assert "Mean by round: How was it?" in text
    assert "People who responded, by round" in text
    assert "2 people" in text


async def test_it_says_when_the_next_round_comes_and_how_to_stop(alice: Browser, parts: Parts) -> None:
    stored = await three_rounds(parts)
    for text in (await page(alice, stored), squeezed((await alice.get(f"/surveys/view/{stored.uid}")).text)):
        assert "Next round:" in text
        assert "To stop: archive the survey, or edit it." in text
    await authored.save(parts.database, stored, category="Work")
    assert "The rounds have stopped" in await page(alice, stored)


async def test_a_survey_without_rounds_says_so(alice: Browser, database: Database) -> None:
    assert "No round yet" in await page(alice, await authored.make(database, "published"))


async def test_the_editor_says_that_a_save_stops_the_rounds(alice: Browser, parts: Parts) -> None:
    stored = await three_rounds(parts)
    form = await alice.get(f"/surveys/edit/{stored.uid}")
    assert 'value="days" selected' in squeezed(form.text)
    await authored.save_as(parts.database, stored, replace(stored.definition, category="Work"))
    dialog = await authored.make(parts.database, repeat=replace(stored.definition.repeat, times=9))  # type: ignore[type-var]
    asked = squeezed((await alice.get(f"/surveys/publish/{dialog.uid}")).text)
    assert "They are asked in rounds that open by themselves. Every day from" in asked


async def test_it_needs_a_sign_in_a_right_and_the_workspace(
    visitor: Browser, eve: Browser, sign_in: SignIn, parts: Parts
) -> None:
    stored = await three_rounds(parts)
    url = f"/surveys/view/{stored.uid}/rounds"
    assert (await visitor.get(url)).status_code == 303
    assert (await (await sign_in("nora")).get(url)).status_code == 403
    assert (await eve.get(url)).status_code == 404
