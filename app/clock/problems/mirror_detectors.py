"""What of the server's rows is missing; the guards have decided that a person must look. Pure."""

from datetime import date, datetime

from app.counting import count
from app.dates import days_words
from app.problems.findings import Fact, Finding

LISTED = {
    "employees": "people",
    "devices": "terminals",
    "departments": "departments",
    "positions": "positions",
    "areas": "areas",
    "locations": "locations",
}


def people_gone(fact: Fact, _: datetime) -> Finding:
    what = LISTED.get(fact.subject_id, fact.subject_id)
    return fact.found(
        f"The server no longer lists many {what}",
        f"It lists {fact.facts['listed']:,} of {fact.facts['known']:,} known {what}. None was marked as missing: say whether"
        " they are gone, or the list is wrong.",
    )


def punches_gone(fact: Fact, _: datetime) -> Finding:
    return fact.found(
        "The server no longer has many punches",
        f"{fact.facts['missing']:,} of {fact.facts['known']:,} known punches of {_days(fact, None)} are missing there. None was"
        " marked as gone: say whether the server is right.",
    )


def slice_incomplete(fact: Fact, now: datetime) -> Finding:
    return fact.found(
        f"Punches of {_days(fact, now.date())} are missing: the server counts more than it gives",
        f"{fact.facts['came']:,} of {count(fact.facts['total'], 'punch', 'punches')} came, run after run. Look on the server,"
        " or accept these days as read.",
    )


def _days(fact: Fact, today: date | None) -> str:
    first, last = fact.facts["first"], fact.facts["last"]
    return days_words(date.fromisoformat(first), date.fromisoformat(last), today) if first and last else "the last days"
