"""What is wrong with the connection, its runs and what they read. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.clock import failure_words
from app.clock.codes import TC_CODES, TcCode
from app.clock.problems.silence import is_silent
from app.counting import count
from app.dates import local_time
from app.problems.findings import Fact, Finding

# A run is overdue only after so many intervals, and after an hour at least.
INTERVALS, LEAST = 3, timedelta(hours=1)


def connection_failing(fact: Fact, _: datetime) -> Finding:
    """A fault of the import is never the server's."""
    code, message = fact.facts["code"], fact.facts["message"]
    words = failure_words.words(code)
    what = (words.meaning if words else message or "it says no reason").rstrip(".")
    who = "The last run failed" if code == TcCode.IMPORT else f"The sync with {fact.facts['host']} fails"
    return fact.found(
        f"{who}: {what}", " ".join(filter(None, [message, words.advice if words else "Look at the last run."]))
    )


def connection_locked(fact: Fact, now: datetime) -> Finding:
    until = _instant(fact.facts["until"])
    when = (
        f"The same password can be tried again from {_time(until, fact, now)} on."
        if until and until > now
        else "One more try with the saved password can be allowed now."
    )
    return fact.found(
        f"The connection to {fact.facts['host']} is locked after refused sign-ins",
        f"{TC_CODES[TcCode.AUTH].cause} Save the right password in Settings and test it. {when}",
    )


def sync_overdue(fact: Fact, now: datetime) -> Finding | None:
    """Counted from the last good run, the last change of the connection, or the beginning of the run that works now."""
    given: Mapping[str, Any] = fact.facts
    if not given["minutes"] or _is_later(given["not_before"], now):
        return None
    late = max(INTERVALS * timedelta(minutes=given["minutes"]), LEAST)
    known = [one for one in (fact.since, _instant(given["changed"])) if one is not None]
    began = _instant(given["began"])
    if began is not None and now - began <= max(late, 2 * timedelta(seconds=given["budget_seconds"])):
        return None
    if not known or now - max(known) <= late:
        return None
    since = f"since {_time(fact.since, fact, now)}" if fact.since else "yet"
    return fact.found(
        f"No sync has worked {since}",
        f"One is due every {count(given['minutes'], 'minute', 'minutes')}. Look in the Sync Center whether runs wait, and on"
        " Jobs whether a worker runs; then start a run.",
    )


def silence(fact: Fact, now: datetime) -> Finding | None:
    """A feed that says nothing while every call succeeds (docs/clock-servers.md, "Habits of real servers")."""
    if not is_silent(fact.since, now, ZoneInfo(fact.facts["zone"]), fact.facts["hours"]):
        return None
    since = f"since {_time(fact.since, fact, now)}" if fact.since else "at all"
    return fact.found(
        f"No punch has come {since}, although the server answers",
        "Look on the server whether it still receives punches from its terminals.",
    )


def server_restored(fact: Fact, _: datetime) -> Finding:
    return fact.found(
        f"The database of {fact.facts['host']} was restored, and its ids started over",
        "No run reads punches until you choose “Start over from a date” in the Sync Center.",
    )


def rows_set_aside(fact: Fact, _: datetime) -> Finding:
    rows = count(fact.facts["rows"], "row is", "rows are")
    return fact.found(
        "Rows of the server could not be read",
        f"{rows} missing here. The run names each with its reason. Correct them on the server, or dismiss this if you do not need"
        " them.",
    )


def _is_later(text: str | None, now: datetime) -> bool:
    at = _instant(text)
    return at is not None and at > now


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _time(at: datetime, fact: Fact, now: datetime) -> str:
    zone = ZoneInfo(fact.facts["zone"])
    return local_time(at.astimezone(zone), now.astimezone(zone).date())
