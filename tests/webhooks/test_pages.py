"""*Webhooks* as an administrator uses it, with a receiver that answers."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from app.accounts.audit import COMMAND_LINE, Actor
from app.accounts.models import AuditEntry
from app.db.session import Database
from app.parts import Parts
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner
from app.webhooks import endpoints, gathering
from app.webhooks.kinds import ATTENDANCE_CHANGED, OUTCOME_CHANGED, SYNC_FINISHED
from tests.clock.punches.test_stale_days import until_somebody_waits
from tests.conftest import Browser
from tests.fakes.liar import Liar, answer, lying
from tests.host.staff import ALICE
from tests.rendered_forms import Rendered
from tests.surveys.recording import user_id
from tests.webhooks.receiving import HOOK, add, change, send, verified


@pytest.fixture
async def liar() -> AsyncIterator[Liar]:
    async with lying() as liar:
        liar.says(HOOK, answer(status=500), answer(status=204, media_type=None))
        yield liar


def secret_in(text: str) -> str:
    found = re.search(r"whsec_[A-Za-z0-9+/=]+", text)
    assert found
    return found[0]


async def test_from_adding_one_to_sending_an_event_again(parts: Parts, alice: Browser, liar: Liar) -> None:
    wrong = await alice.submit("/webhooks/new", {"url": "example.org", "types": [ATTENDANCE_CHANGED]})
    assert (wrong.status_code, "begins with https://" in wrong.text) == (422, True)
    given = {"url": f"{liar.url}{HOOK}?key=1", "types": [ATTENDANCE_CHANGED]}
    made = await alice.submit("/webhooks/new", given, follow_redirects=True)
    secret = secret_in(made.text)
    assert "no-store" in made.headers["cache-control"]
    assert "key=1" not in made.text
    (number,) = set(re.findall(r"/webhooks/(\d+)", made.text))
    home = f"/webhooks/{number}"
    assert "whsec_" not in (await alice.get(home)).text + (await alice.get("/webhooks")).text
    await alice.submit(f"{home}/test")
    assert "1 waiting to be sent" in (await alice.fragment(home)).text
    await send(parts)
    await change(parts, 7)
    await send(parts)
    shown = (await alice.get(home)).text
    assert "webhook.<wbr>test" in shown  # A phone breaks the name after its dot, and not before its last letter.
    assert "webhook.<wbr>test" in (await alice.get("/webhooks/log")).text
    assert "It must answer 2xx" in shown
    call = re.findall(r"/webhooks/log/(\d+)", shown)[0]
    drawer = (await alice.fragment(f"/webhooks/log/{call}")).text
    assert "attendance.changed" in drawer
    await alice.submit(f"/webhooks/log/{call}/again")
    await send(parts)
    _, first, second = liar.heard
    assert verified(second, secret) == verified(first, secret)
    assert first.query == {"key": "1"}
    assert "/webhooks/log/" in (await alice.get("/webhooks/log?result=delivered")).text


async def test_loading_the_page_with_the_secret_again_makes_and_shows_nothing(parts: Parts, alice: Browser) -> None:
    posted = await alice.submit("/webhooks/new", {"url": "https://a.example/1", "types": [ATTENDANCE_CHANGED]})
    assert (posted.status_code, "whsec_" in posted.text) == (303, False)
    page = posted.headers["location"]
    assert "whsec_" in (await alice.get(page)).text
    again = await alice.get(page)
    assert (again.status_code, f"{again.headers['location']}/secret") == (303, page)
    async with parts.database.transaction() as db:
        assert len(await endpoints.all_of(db)) == 1


async def test_an_address_that_may_not_be_called_is_refused_where_it_is_typed(parts: Parts, alice: Browser) -> None:
    """The policy of the tests allows 127.0.0.1."""
    types = [ATTENDANCE_CHANGED]
    for url in ("http://10.1.2.3/hook", "https://169.254.169.254/latest", "http://[::1]/hook"):
        refused = await alice.submit("/webhooks/new", {"url": url, "types": types})
        assert (refused.status_code, "MUSTER_OUTBOUND_ALLOW" in refused.text) == (422, True), url
    made = await add(parts, "http://10.1.2.3/hook")
    form = f"/webhooks/{made.id}/edit"
    page = Rendered((await alice.get(form)).text, form)
    base = next(one for one in page.forms if one.action == form).untouched()
    refused = await alice.submit(form, {**base, "url": "http://10.1.2.4/hook", "types": types})
    assert (refused.status_code, "MUSTER_OUTBOUND_ALLOW" in refused.text) == (422, True)
    kept = await alice.submit(form, {**base, "url": "http://10.1.2.3/hook", "types": types})
    assert kept.status_code == 303, "the address stays, and each call judges it"


async def test_two_who_save_at_the_same_moment_overwrite_nothing_of_each_other(parts: Parts, alice: Browser) -> None:
    """Neither do they wait for each other in a ring: the page locks what an act does, in the same order."""
    made = await add(parts, "https://a.example/1", [ATTENDANCE_CHANGED])
    form = f"/webhooks/{made.id}/edit"
    page = Rendered((await alice.get(form)).text, form)
    base = next(one for one in page.forms if one.action == form).untouched()
    async with parts.database.transaction() as db:
        await gathering.hold(db)
        saving = asyncio.create_task(alice.submit(form, {**base, "types": [ATTENDANCE_CHANGED, SYNC_FINISHED]}))
        await until_somebody_waits(parts.database)
        await endpoints.edit(db, COMMAND_LINE, made.id, "https://a.example/1", [OUTCOME_CHANGED])
    assert (await saving).status_code == 409
    async with parts.database.transaction() as db:
        assert (await endpoints.one(db, made.id)).types == [OUTCOME_CHANGED]


async def test_rotating_switching_and_removing(parts: Parts, alice: Browser, liar: Liar) -> None:
    made = await add(parts, liar.url + HOOK)
    home = f"/webhooks/{made.id}"
    assert "both secrets" in (await alice.get(f"{home}/rotate")).text
    rotated = await alice.submit(f"{home}/rotate", follow_redirects=True)
    assert secret_in(rotated.text) != made.secret
    assert "valid for 24 hours" in rotated.text
    for act, said in (("off", "This webhook is off"), ("on", "Switch off"), ("try", "Switch off")):
        assert (await alice.submit(f"{home}/{act}")).status_code == 303
        assert said in (await alice.get(home)).text
    assert "Two secrets valid until" in (await alice.get(home)).text
    assert "can&#39;t be undone" in (await alice.get(f"{home}/remove")).text
    await alice.submit(f"{home}/remove")
    assert (await alice.get(home)).status_code == 404
    assert "Webhook removed" in (await alice.get("/admin/audit")).text


async def test_the_log_of_one_that_is_off_follows_what_a_person_sends(parts: Parts, alice: Browser, liar: Liar) -> None:
    made = await add(parts, liar.url + HOOK)
    home = f"/webhooks/{made.id}"
    assert "Two secrets" not in (await alice.get(home)).text
    await alice.submit(f"{home}/off")
    assert "every 3s" not in (await alice.get(home)).text
    await alice.submit(f"{home}/test")
    assert "every 3s" in (await alice.get(home)).text
    await send(parts)
    assert "every 3s" not in (await alice.fragment(home)).text


async def test_the_audit_says_that_an_address_changed_and_not_what_may_be_its_secret(parts: Parts) -> None:
    made = await add(parts, "https://a.example/hooks/hunter2")
    async with parts.database.transaction() as db:
        await endpoints.edit(db, COMMAND_LINE, made.id, "https://a.example/hooks/hunter3?key=hunter4", made.types)
        await endpoints.remove(db, COMMAND_LINE, made.id)
        rows = await db.execute(select(AuditEntry.act, AuditEntry.before, AuditEntry.after).order_by(AuditEntry.id))
        told = [(act, (before or {}).get("url"), (after or {}).get("url")) for act, before, after in rows]
    short = "https://a.example/hooks/…"
    assert told == [("webhook.add", None, short), ("webhook.edit", short, short), ("webhook.delete", short, None)]


async def test_it_names_no_erased_person(parts: Parts, alice: Browser, database: Database) -> None:
    bob = await user_id(database, "bob")
    async with database.transaction() as db:
        made = await endpoints.add(
            db, parts.keys, Actor(bob, "Bob Brandt"), "https://a.example/1", [ATTENDANCE_CHANGED]
        )
    assert "Bob Brandt" in (await alice.get(f"/webhooks/{made.id}")).text
    await erasing.erase(database, ALICE, EvidenceOwner(bob, "bob@example.org", "main"))
    shown = (await alice.get(f"/webhooks/{made.id}")).text
    assert ("Bob Brandt" in shown, "Erased person" in shown) == (False, True)


async def test_only_those_who_keep_webhooks_of_that_workspace(
    parts: Parts, vera: Browser, eve: Browser, visitor: Browser
) -> None:
    made = await add(parts, "http://127.0.0.1:9/hook")
    assert (await visitor.get("/webhooks")).headers["location"].startswith("/sign-in")
    assert (await vera.get("/webhooks")).status_code == 403
    assert (await eve.get(f"/webhooks/{made.id}")).status_code == 404
    assert "rating.recorded" not in (await eve.get("/webhooks/new")).text
