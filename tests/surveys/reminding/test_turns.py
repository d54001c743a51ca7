"""Who is reminded when, and what becomes of a mail that waits: tables of cases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.surveys.asking.pacing import Caller, Offer
from app.surveys.reminding.turns import LASTS, Reminding, WaitingMail

OPENED = datetime(2026, 11, 2, 8, tzinfo=UTC)
DAY = timedelta(days=1)

TURNS = [
    # (after how many days people are reminded, how often they were, days since it opened, days that it is open,
    # the turn that is due)
    (3, 0, 2.9, None, None),
    (3, 0, 3, None, 1),
    (3, 1, 3, None, None),
    (3, 1, 6, None, 2),
    (3, 2, 9, None, None),
    (3, 0, 6, None, 2),  # the first was missed: once is enough
    (3, 0, 12.9, None, 2),
    (3, 0, 13, None, None),  # nothing worked for so long: nothing is sent late
    (3, 0, 3, 3, None),  # it is over
    (3, 1, 6, 7, 2),
    (90, 0, 97, None, None),
]


@pytest.mark.parametrize(("days", "reminded", "since", "open_days", "turn"), TURNS)
def test_which_reminder_is_due(
    days: int, reminded: int, since: float, open_days: float | None, turn: int | None
) -> None:
    ends_at = None if open_days is None else OPENED + DAY * open_days
    one, now = Reminding(OPENED, ends_at, days, reminded), OPENED + DAY * since
    assert one.turn_due(now) == turn
    wanted = one.next_at(now)
    assert (wanted is not None and wanted <= now) == (turn is not None)


OFFER = Offer("main", UUID(int=1), "published", 2, "optional", starts_at=OPENED, ends_at=OPENED + 30 * DAY)
WAITING = WaitingMail(2, OPENED + DAY, OFFER, Caller("staff", "main"))
FATES: list[tuple[dict[str, Any], dict[str, Any], timedelta, str]] = [
    # (what is different about the mail, about its survey, how long after it was due, what becomes of it)
    ({}, {}, timedelta(0), "sent"),
    ({}, {}, -timedelta(seconds=1), "waits"),
    ({}, {}, LASTS - timedelta(seconds=1), "sent"),
    ({}, {}, LASTS, "dropped"),  # mail was switched on months after
    ({"outcome": "answered"}, {}, DAY, "dropped"),
    ({"outcome": "opted_out"}, {}, DAY, "dropped"),
    ({"told": False}, {}, DAY, "dropped"),
    ({"version": 1}, {}, DAY, "dropped"),  # the next round is open
    ({}, {"status": "archived"}, DAY, "dropped"),
    ({}, {"ends_at": OPENED + 2 * DAY}, DAY, "dropped"),
    ({}, {"user_types": ["admin"]}, DAY, "dropped"),
    ({}, {"tenants": ["acme"]}, DAY, "dropped"),
    ({}, {"enforcement": "required"}, DAY, "sent"),
    ({"due_at": OPENED - DAY}, {}, timedelta(0), "waits"),  # people were reminded before it opened
    ({}, {"starts_at": OPENED + 10 * DAY}, DAY, "waits"),
    ({}, {"starts_at": OPENED + 10 * DAY}, 9 * DAY, "sent"),  # its days count from the start
    ({}, {"starts_at": OPENED + 10 * DAY}, 9 * DAY + LASTS, "dropped"),
    ({"on": False}, {}, DAY, "waits"),
    ({"on": False}, {}, LASTS, "dropped"),
]


@pytest.mark.parametrize(("mail", "survey", "after", "fate"), FATES)
def test_what_becomes_of_a_mail_that_waits(
    mail: dict[str, Any], survey: dict[str, Any], after: timedelta, fate: str
) -> None:
    fields = {name: getattr(OFFER, name) for name in Offer.__struct_fields__}
    one = replace(WAITING, offer=Offer(**{**fields, **survey}), **mail)
    assert one.fate(one.due_at + after) == fate
