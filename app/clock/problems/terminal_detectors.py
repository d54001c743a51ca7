"""What is wrong with a terminal. The limits are in figures/thresholds.py and silence.py. Pure."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from app.clock.codes import punch_label
from app.clock.days import CHECK_DAYS
from app.clock.figures.thresholds import FEWEST, is_offline, is_skewed, skew_words, zone_hint
from app.clock.mirror.one_key import PAIRS, only_key, use_of, without_partner
from app.clock.problems.silence import is_silent, is_silent_terminal
from app.counting import count
from app.dates import local_time
from app.problems.findings import Fact, Finding

# Zones differ by quarters of an hour, so a smaller error is not one of the zone.
_BY_A_ZONE_S = 14 * 60
# A terminal that worked soon after the history start may have older punches, which are not to be read.
_YOUNGER = timedelta(days=CHECK_DAYS)
_IF_DISMISSED = "If you dismiss this, each person’s day with one punch there becomes a problem."


def terminal_offline(fact: Fact, now: datetime) -> Finding | None:
    if not is_offline("offline", fact.since, "attendance", now):
        return None
    return fact.found(
        f"Terminal {_name(fact)} has been offline since {_since(fact, now)}",
        "Its punches come once it is connected again. Look at its power and its network.",
    )


def silent_terminal(fact: Fact, now: datetime) -> Finding | None:
    if _clock_is_silent(fact, now) or not is_silent_terminal(fact.since, "", now, fact.facts["hours"]):
        return None
    return _lasting(fact).found(
        f"Terminal {_name(fact)} has sent no punch since {_since(fact, now)}",
        "Make a punch there. If it does not come, look at the terminal and at the server.",
    )


def terminal_skew(fact: Fact, _: datetime) -> Finding | None:
    seconds = fact.facts["seconds"]
    if not is_skewed(seconds, fact.facts["warn_seconds"]):
        return None
    hint = zone_hint(fact.facts["terminal_tz"], fact.facts["zone"]) if abs(seconds) >= _BY_A_ZONE_S else ""
    return fact.found(
        f"The clock of terminal {_name(fact)} is wrong",
        f"It is {skew_words(seconds)}. Set it, or have the server set it. {hint}".strip(),
    )


def terminal_backlog(fact: Fact, now: datetime) -> Finding | None:
    """If the terminal is older than the history, the missing punches may be history."""
    if _clock_is_silent(fact, now):
        return None
    began, first = date.fromisoformat(fact.facts["history_start"]), fact.facts["first_day"]
    is_younger = first is None or date.fromisoformat(first) > began + _YOUNGER
    if fact.held_punches < FEWEST or not is_younger:
        return None
    return _lasting(fact).found(
        f"The server counts more punches of terminal {_name(fact)} than it gives",
        f"{count(fact.held_punches, 'punch is', 'punches are')} not here. Read its days again in the Sync Center.",
    )


def no_direction(fact: Fact, _: datetime) -> Finding:
    """If its other punches count, one direction for all of them would be wrong."""
    if not fact.facts["listed"]:
        which = f"terminal {_name(fact)}, which the server does not list," if fact.facts["name"] else "no terminal"
        return fact.found(
            f"Punches of {which} say neither in nor out", "Mark them as settled, or set the default direction."
        )
    if fact.facts["counts"]:
        advice = "Its other punches do. Mark these as settled, or set a direction for all punches of the terminal."
        return fact.found(f"Some punches of terminal {_name(fact)} say neither in nor out", advice)
    return fact.found(f"No punch of terminal {_name(fact)} counts: they say neither in nor out", "Set its direction.")


def one_key(fact: Fact, _: datetime) -> Finding | None:
    code = only_key(use_of(fact.facts["uses"]))
    if code is None:
        return None
    lasting = {name: value for name, value in fact.facts.items() if name != "uses"}
    return replace(fact, facts=lasting).found(
        f"Terminal {_name(fact)} sends one key only",
        f"It sends “{punch_label(code)}” for coming and going, so {without_partner(fact.held_punches)}. {PAIRS} {_IF_DISMISSED}",
    )


def access_terminal_used(fact: Fact, _: datetime) -> Finding:
    return fact.found(
        f"The server says that terminal {_name(fact)} only opens a door",
        "Its punches do not become attendance. Say whether that is right.",
    )


def _clock_is_silent(fact: Fact, now: datetime) -> bool:
    """Then that is the problem, or why nothing is read is, and what its terminals miss follows from it."""
    last = fact.facts["last_of_clock"]
    at = datetime.fromisoformat(last) if last else None
    return is_silent(at, now, ZoneInfo(fact.facts["zone"]), fact.facts["hours"])


def _lasting(fact: Fact) -> Fact:
    """Without what changes with every punch: a problem does not change with it."""
    return replace(fact, facts={name: value for name, value in fact.facts.items() if name != "last_of_clock"})


def _name(fact: Fact) -> str:
    return str(fact.facts["name"])


def _since(fact: Fact, now: datetime) -> str:
    """`since` is there where a detector asks for it."""
    zone = ZoneInfo(fact.facts["zone"])
    return local_time(fact.since.astimezone(zone), now.astimezone(zone).date()) if fact.since else ""
