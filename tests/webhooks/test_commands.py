"""The commands about webhooks."""

from tests.command_line import CommandLine
from tests.fakes.liar import answer, lying
from tests.webhooks.receiving import HOOK, verified


async def test_a_webhook_is_made_tested_listed_and_deleted(muster: CommandLine) -> None:
    async with lying() as liar:
        liar.says(HOOK, answer(status=204, media_type=None), answer(status=500))
        allowed = {"MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32"}
        events = ("--event", "sync.finished", "--event", "attendance.changed")
        made = (await muster("webhook:create", liar.url + HOOK + "?key=1", *events, "--json", **allowed)).json
        assert made["events"] == ["attendance.changed", "sync.finished"]
        tested = await muster("webhook:test", made["id"], **allowed)
        assert tested.out.startswith("It arrived: the receiver answered 204"), tested.err
        assert verified(liar.heard[0], made["secret"])["type"] == "webhook.test"
        assert "500" in (await muster("webhook:test", made["id"], **allowed)).refusal
    (listed,) = (await muster("webhook:list", "--json")).json["webhooks"]
    assert (listed["url"], listed["active"], listed["waiting"]) == (liar.url + HOOK + "?…", True, 0)
    assert made["secret"] not in (await muster("webhook:list")).out
    assert (await muster("webhook:delete", made["id"])).out == f"Webhook {made['id']} was removed.\n"
    assert (await muster("webhook:test", made["id"])).refusal == "There is no such webhook."
    assert "There is no webhook" in (await muster("webhook:list")).out


async def test_an_address_that_may_not_be_called_is_refused_at_once(muster: CommandLine) -> None:
    refused = await muster("webhook:create", "http://10.1.2.3/hook", "--event", "sync.finished")
    assert "10.1.2.3 may not be reached from here (private)" in refused.refusal
    assert "MUSTER_OUTBOUND_ALLOW" in refused.refusal
    assert "There is no webhook" in (await muster("webhook:list")).out


async def test_what_is_not_a_type_of_event_is_refused_with_those_that_are(muster: CommandLine) -> None:
    refused = await muster("webhook:create", "https://example.org/x", "--event", "no.such")
    assert "attendance.changed" in refused.refusal
    tenants = await muster(
        "webhook:create", "https://example.org/x", "--event", "rating.recorded", "--workspace", "acme"
    )
    assert "'rating.recorded'" in tenants.refusal
