"""Without script: what somebody sent after their session had ended comes back to them after they signed in,
and to no one else."""

import re
from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe
from typing import Any

import pytest
from httpx import Response
from litestar.datastructures import FormMultiDict
from sqlalchemy import delete, select

from app.accounts.models import Session
from app.db.session import Database
from app.host.pages.admin.sign_in import NOT_KEPT
from app.parts import Parts
from app.web.drafts import carrying
from app.web.drafts.carrying import Carried
from tests.conftest import Browser, SignIn
from tests.host.signing_in import PASSWORD, code_of, give_password, give_second_factor, user_id_of
from tests.rendered_forms import Rendered
from tests.surveys.drafted import Stored
from tests.surveys.pages.test_prompt import CHOICE, TICKS, WHY, ask, form, named, outcomes, rows

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
TYPED = "A long story, “with” all that belongs to it <b>"


@pytest.fixture
async def survey(database: Database) -> Stored:
    for short in ("nora", "vera"):
        await give_password(database, short)
    return await ask(database, title="Lunch", questions=[CHOICE, TICKS, WHY])


@pytest.fixture
async def nora(sign_in: SignIn, database: Database, survey: Stored) -> Browser:
    """Her session ended while she wrote."""
    browser = await sign_in("nora")
    browser.mark = person_in((await browser.get("/me/questions/" + str(survey.uid))).text)  # type: ignore[attr-defined]
    await end_sessions(database)
    return browser


async def end_sessions(database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(delete(Session))


def person_in(page: str) -> str:
    found = re.search(r'name="person" value="([0-9a-f]{32})"', page)
    assert found
    return found[1]


async def send(browser: Any, survey: Stored, url: str = "", /, **more: str) -> Response:
    answers = {named(survey, 0): "Desk", named(survey, 1, "-ticks"): ["Rice", "Soup"], named(survey, 2): TYPED}
    sent = {**form(survey, "answer", answers), "person": browser.mark, **more}
    answer: Response = await browser.submit(url or f"/me/questions/{survey.uid}", sent)
    return answer


async def come_back(browser: Browser, shown: Response, short: str = "nora", **typed: str) -> Response:
    """Signs in by the form of that page."""
    (sent,) = [one.untouched() for one in Rendered(shown.text, "/sign-in").forms if one.action == "/sign-in"][:1]
    filled = {"email": f"{short}@example.org", "password": PASSWORD, **typed}
    action = re.search(r'action="(/sign-in[^"]*)"', shown.text)
    assert action
    return await browser.post(action[1], data={**sent, **filled})


@pytest.mark.parametrize("url", ["", "/survey_prompt/submit"])
async def test_it_comes_back_filled_in_and_nothing_was_sent(
    nora: Browser, database: Database, survey: Stored, url: str
) -> None:
    shown = await send(nora, survey, url)
    assert shown.status_code == 401
    assert "You were signed out meanwhile, so nothing was sent." in shown.text
    assert "A long story" not in shown.text
    back = await come_back(nora, shown)
    assert (back.status_code, back.headers["location"]) == (303, f"/me/questions/{survey.uid}")
    for _ in range(2):  # reloading loses nothing
        page = (await nora.get(back.headers["location"])).text
        assert "A long story, “with” all that belongs to it &lt;b&gt;</textarea>" in page
        assert re.findall(r'value="([^"]+)" checked', page) == ["Desk", "Soup", "Rice"]
        assert "is back. Nothing was sent yet." in page
    assert await outcomes(database) == []


async def test_it_comes_back_in_the_language_that_the_address_asked_for(
    nora: Browser, database: Database, survey: Stored
) -> None:
    address = f"/me/questions/{survey.uid}?lang=de"
    shown = await send(nora, survey, address)
    assert '<html lang="de"' in shown.text
    wrong = await come_back(nora, shown, password="nonsense nonsense")
    assert (wrong.status_code, '<html lang="de"' in wrong.text) == (422, True)
    back = await come_back(nora, wrong)
    assert (back.status_code, back.headers["location"]) == (303, address)
    page = (await nora.get(address)).text
    assert "Fragen an Sie" in page
    assert "A long story, “with” all that belongs to it &lt;b&gt;</textarea>" in page


async def test_a_page_that_needs_a_sign_in_is_in_its_language_before_and_after(nora: Browser, survey: Stored) -> None:
    address = f"/me/questions/{survey.uid}?lang=de"
    for asked in (
        await nora.get(address),
        await nora.get(
            "/survey_prompt", headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver{address}"}
        ),
    ):
        to = asked.headers.get("location") or asked.headers["HX-Redirect"]
        shown = await nora.get(to)
        assert (shown.status_code, '<html lang="de"' in shown.text) == (200, True)
    assert (await come_back(nora, shown)).headers["location"] == address


async def test_once_it_was_sent_nothing_is_kept(nora: Browser, database: Database, survey: Stored) -> None:
    back = await come_back(nora, await send(nora, survey))
    page = (await nora.get(back.headers["location"])).text
    assert NOT_KEPT not in page
    (answer,) = [one for one in Rendered(page, "/").forms if one.action == back.headers["location"]]
    sent = await nora.post(answer.action, data={**answer.untouched(), "action": "answer"})
    assert sent.status_code == 303
    assert await outcomes(database) == [("answered", "web", False)]
    async with database.shared_transaction() as db:
        assert await db.scalar(select(Session.carried)) is None


async def test_another_person_who_signs_in_never_sees_it(nora: Browser, database: Database, survey: Stored) -> None:
    back = await come_back(nora, await send(nora, survey), short="vera")
    assert back.headers["location"] == "/"
    assert NOT_KEPT in await home(nora)
    assert NOT_KEPT not in await home(nora)
    page = (await nora.get(f"/me/questions/{survey.uid}")).text
    assert "Lunch" in page
    assert "A long story" not in page
    assert "checked" not in page.partition("<main")[2]


async def test_who_comes_back_too_late_reads_that_it_was_not_kept(nora: Any, parts: Parts, survey: Stored) -> None:
    shown = await send(nora, survey)
    written = Carried(f"/me/questions/{survey.uid}", FormMultiDict([(named(survey, 2), TYPED)]))
    old = carrying.seal(parts.keys, nora.mark, written, datetime.now(UTC) - timedelta(hours=2))
    back = await come_back(nora, shown, **{carrying.FIELD: old})
    assert (back.status_code, back.headers["location"]) == (303, "/")
    assert NOT_KEPT in await home(nora)


async def home(browser: Browser) -> str:
    return (await browser.get("/", follow_redirects=True)).text


async def test_it_travels_through_a_wrong_password_and_the_second_step(
    nora: Browser, parts: Parts, survey: Stored
) -> None:
    secret = await give_second_factor(parts, "nora")
    wrong = await come_back(nora, await send(nora, survey), password="nonsense nonsense")
    assert wrong.status_code == 422
    digits = await come_back(nora, wrong)
    assert "Authenticator code" in digits.text
    back = await come_back(nora, digits, otp=code_of(secret))
    assert back.headers["location"] == f"/me/questions/{survey.uid}"
    assert "A long story" in (await nora.get(back.headers["location"])).text


async def test_only_our_own_forms_are_carried(nora: Any, survey: Stored, visitor: Browser) -> None:
    for refused in (
        await send(nora, survey, person=""),
        await send(nora, survey, survey="nonsense"),
        await nora.submit(
            f"/me/questions/{survey.uid}",
            {**form(survey, "answer"), "person": nora.mark},
            headers={"origin": "https://elsewhere.example"},
        ),
    ):
        assert (refused.status_code, refused.headers["location"]) == (303, "/sign-in")
    large = await send(nora, survey, note=token_urlsafe(44_000))
    assert large.status_code == 303
    assert (await visitor.submit("/survey_prompt/submit", {})).status_code == 303


async def test_htmx_is_sent_to_sign_in_as_before(nora: Any, survey: Stored) -> None:
    answers = {**form(survey, "answer"), "person": nora.mark}
    answer = await nora.submit("/survey_prompt/submit", answers, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.text) == (401, "")


async def test_it_opens_for_one_hour_and_one_person(parts: Parts, database: Database) -> None:
    nora, vera = [await user_id_of(database, short) for short in ("nora", "vera")]
    written = Carried(
        "/me/questions/x", FormMultiDict([("q", "a"), ("q", "b"), ("csrf_token", "t"), ("action", "agree")])
    )
    sealed = carrying.seal(parts.keys, carrying.mark_of(parts.keys, nora), written, NOW)
    hour = timedelta(hours=1)
    found = carrying.opened(parts.keys, sealed, nora, NOW + hour)
    assert found
    assert (found.page, list(found.fields.multi_items())) == ("/me/questions/x", [("q", "a"), ("q", "b")])
    assert carrying.opened(parts.keys, sealed, nora, NOW + hour + timedelta(seconds=1)) is None
    assert carrying.opened(parts.keys, sealed, vera, NOW) is None
    assert carrying.opened(parts.keys, sealed[:-3] + "abc", nora, NOW) is None
    assert carrying.opened(parts.keys, "nonsense", nora, NOW) is None


async def test_what_is_stored_is_sealed(nora: Browser, database: Database, survey: Stored) -> None:
    await come_back(nora, await send(nora, survey))
    async with database.shared_transaction() as db:
        stored = await db.scalar(select(Session.carried))
    assert stored
    assert "story" not in stored
    assert await rows(database, "SELECT count(*) FROM survey_responses") == [(0,)]
