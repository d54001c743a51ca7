"""*Account → Notifications*: what a person chooses is kept, and what holds before they choose is said."""

from datetime import time

import pytest

from app.accounts import policies
from app.alerts import choosing
from app.alerts.rules import FIRST_ADMINISTRATOR, SILENT, AlertRules, Digest, QuietHours, SeverityRule
from app.mail import unsubscribing
from app.mail.unsubscribing import ALERTS, SURVEYS, Wish
from app.parts import Parts
from tests.conftest import Browser, SignIn
from tests.host.signing_in import change_user, user_id_of
from tests.rendered_forms import Rendered

PAGE = "/account/notifications"
CHOICE = {
    "critical": "at_once", "critical_after": "0", "warning": "digest", "warning_after": "45", "info": "never",
    "info_after": "30", "digest": "weekly", "digest_weekday": "4", "digest_hour": "7", "quiet_from": "22:00",
    "quiet_to": "06:30", "quiet_but_critical": "1", "zone": "Europe/Zurich", "topic-alerts": "1", "topic-digest": "1",
    "topic-surveys": "1",
}  # fmt: skip


async def rules(parts: Parts, short: str) -> AlertRules | None:
    async with parts.database.transaction() as db:
        return await choosing.chosen_by(db, await user_id_of(parts.database, short))


async def test_what_a_person_chooses_is_kept(parts: Parts, alice: Browser) -> None:
    assert (await alice.submit(PAGE, CHOICE)).status_code == 303
    assert await rules(parts, "alice") == AlertRules(
        SeverityRule("at_once", 0), SeverityRule("digest", 45), SeverityRule("never", 30), digest=Digest("weekly", 4, 7),
        quiet=QuietHours(time(22), time(6, 30)), zone="Europe/Zurich",
    )  # fmt: skip
    await alice.submit(
        PAGE, CHOICE | {"quiet_from": "", "quiet_to": "", "critical": "never", "kind-job_failed": "at_once"}
    )
    now = await rules(parts, "alice")
    assert now
    assert (now.quiet, now.critical.pace, now.kinds) == (None, "never", {"job_failed": "at_once"})
    assert 'name="kind-job_failed"' in (await alice.get(PAGE)).text


async def test_kinds_of_a_module_that_is_off_are_no_choice_and_what_was_chosen_stays(
    parts: Parts, alice: Browser
) -> None:
    await alice.submit(PAGE, CHOICE | {"kind-silence": "never"})
    async with parts.database.shared_transaction() as db:
        await policies.write(db, "main", {"module_clock": False})
    page = (await alice.get(PAGE)).text
    assert ('name="kind-silence"' in page, 'name="kind-job_failed"' in page) == (False, True)
    await alice.submit(PAGE, CHOICE)
    now = await rules(parts, "alice")
    assert now
    assert now.kinds == {"silence": "never"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"warning_after": "1441"}, "At most 1440."),
        ({"quiet_to": ""}, "Choose both times, or leave both empty."),
        ({"quiet_to": "22:00"}, "The quiet hours end when they begin."),
        ({"zone": "Mars/Olympus"}, "There is no such time zone."),
        ({"critical": "sometimes"}, "Choose one of the list."),
    ],
)
async def test_a_choice_that_cannot_be_meant_is_refused_at_its_field(
    parts: Parts, alice: Browser, wrong: dict[str, str], said: str
) -> None:
    answer = await alice.submit(PAGE, CHOICE | wrong)
    assert (answer.status_code, said in answer.text) == (422, True)
    assert await rules(parts, "alice") is None


async def test_until_they_choose_the_first_administrator_alone_is_told(
    parts: Parts, alice: Browser, bob: Browser
) -> None:
    assert "you are told of critical problems until you choose" in (await alice.get(PAGE)).text
    assert "You get no mail about problems until you do." in (await bob.get(PAGE)).text
    alice_id, bob_id = [await user_id_of(parts.database, one) for one in ("alice", "bob")]
    async with parts.database.transaction() as db:
        assert await choosing.default_for(db, "main", alice_id) == FIRST_ADMINISTRATOR
        assert await choosing.default_for(db, "main", bob_id) == SILENT
    await change_user(parts.database, "alice", active=False)
    async with parts.database.transaction() as db:
        assert await choosing.default_for(db, "main", alice_id) == SILENT


async def test_without_mail_the_page_says_so(alice: Browser) -> None:
    assert "This server sends no mail." in (await alice.get(PAGE)).text
    assert f'href="{PAGE}"' in (await alice.get("/account")).text


async def test_what_a_link_in_a_mail_ended_is_shown_and_can_be_had_again(parts: Parts, alice: Browser) -> None:
    user_id = await user_id_of(parts.database, "alice")
    async with parts.database.transaction() as db:
        await unsubscribing.refuse(db, Wish(user_id, ALERTS))
    forms = Rendered((await alice.get(PAGE)).text, PAGE).forms
    shown = next(one for one in forms if one.action == PAGE).untouched()
    assert ("topic-alerts" in shown, shown["topic-digest"]) == (False, "1")
    await alice.submit(PAGE, {**CHOICE, "topic-surveys": "0"})
    async with parts.database.transaction() as db:
        assert await unsubscribing.refused_by(db, user_id) == {SURVEYS}


async def test_a_person_who_may_not_see_problems_chooses_mails_about_surveys_alone(
    parts: Parts, sign_in: SignIn
) -> None:
    nora = await sign_in("nora")
    page = (await nora.get(PAGE, headers={"Accept-Language": "de"})).text
    assert "Welche E-Mails Muster Ihnen sendet" in page
    assert "Einladungen" in page
    assert 'name="critical"' not in page
    await nora.submit(PAGE, {"topic-surveys": "0", "critical": "at_once", "topic-alerts": "0"})
    assert await rules(parts, "nora") is None
    async with parts.database.transaction() as db:
        assert await unsubscribing.refused_by(db, await user_id_of(parts.database, "nora")) == {SURVEYS}
