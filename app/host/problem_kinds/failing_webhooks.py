"""Webhooks that fail several times in a row, or that Muster has switched off.
An event that arrives closes the problem."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from app.problems.findings import Fact, Finding, Severity
from app.problems.kinds import FactSelect, ProblemKind, Remedy, RemedyAsked, fact_columns
from app.webhooks import addresses, endpoints
from app.webhooks.models import WebhookEndpoint
from app.webhooks.retry_pauses import RESTS_AFTER

KIND, SUBJECT = "webhook_failing", "webhook"
_SHORTENED = func.regexp_replace(WebhookEndpoint.url, addresses.LEFT_OUT, addresses.SHORT)
_FAILS = "Nothing arrived there, several times in a row. Muster keeps trying, after longer and longer pauses. The webhook's log says what came back."

_FIX = "Fix that, then try again: waiting events are sent. Or remove the webhook."


def detect(fact: Fact, _: datetime) -> Finding | None:
    """Its address is shortened, so several may look alike: the number says which."""
    named, reason = f"Webhook {fact.subject_id} to {fact.facts['url']}", fact.facts["off"]
    if reason:
        return fact.found(f"{named} was switched off", f"{reason} {_FIX}")
    return fact.found(f"{named} fails", _FAILS)


def _url(subject_id: str, _: Mapping[str, Any]) -> str:
    return f"/webhooks/{subject_id}"


async def _try_again(asked: RemedyAsked) -> None:
    for subject_id in asked.subject_ids:
        await endpoints.try_again(asked.db, asked.actor, int(subject_id))


FAILING = ProblemKind(
    KIND,
    "Webhook failing",
    Severity.WARNING,
    "host.webhooks",
    "Open the webhook to read what the receiver answered, fix that, then try again.",
    _url,
    detect,
    Remedy("Try again", "host.webhooks", _try_again, many=True),
)
FAILING_WEBHOOKS = FactSelect(
    frozenset({KIND}),
    select(
        *fact_columns(
            KIND,
            SUBJECT,
            WebhookEndpoint.id,
            since=WebhookEndpoint.failing_since,
            facts=func.jsonb_build_object("url", _SHORTENED, "off", WebhookEndpoint.off_reason),
        )
    ).where(
        or_(WebhookEndpoint.active & (WebhookEndpoint.failures >= RESTS_AFTER), WebhookEndpoint.off_reason.is_not(None))
    ),
)
