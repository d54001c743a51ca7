"""Who is asked which survey, when, and why not: one table of cases, in the order of the design page. Pure.

Source: decisions, "Surveys: who is asked, when". The queue, `respond`, the web prompt and *Why (not) asked?* all judge by it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.counting import count
from app.surveys.words import BARE_KEYS, Names

_NEVER = datetime.max.replace(tzinfo=UTC)
_DONE = {
    "answered": "They have answered this version.",
    "agreed": "They have agreed to this version.",
    "declined": "They have declined this version.",
    "opted_out": "They have opted out of this version.",
}


# Every call makes one of each for every published survey, and a dataclass takes eight times as long.
class Offer(msgspec.Struct, frozen=True):
    """One survey as it is now. `workspace` is where it lives; pacing is None where it is required."""

    workspace: str
    uid: UUID
    status: str
    version: int
    enforcement: str
    user_types: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    snooze_hours: int | None = None
    cooldown_days: int | None = None
    max_prompts: int | None = None
    published_at: datetime | None = None


class State(msgspec.Struct, frozen=True):
    """What happened between one person and the survey's current version. `outcome` is that of the ledger, None without a row;
    `shown_in` the browser session whose prompt shows it."""

    impressions: int = 0
    last_shown_at: datetime | None = None
    snoozed_until: datetime | None = None
    outcome: str | None = None
    shown_in: int | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever is asked: their user type, and the workspace they belong to."""

    type: str
    workspace: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The policy `optional_gap_hours` (0: off), and when the person was last shown which optional survey, in any workspace."""

    hours: int = 0
    shown: Mapping[UUID, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`answerable`: `respond` takes it; `promptable`: it may be shown. `changes_at` is when this reason ends by itself."""

    answerable: bool
    promptable: bool
    reason: str
    sentence: str
    changes_at: datetime | None


@dataclass(slots=True)
class _Situation:
    offer: Offer
    state: State
    caller: Caller
    now: datetime
    gap: Gap
    names: Names = BARE_KEYS

    @property
    def cooldown_ends(self) -> datetime:
        shown, days = self.state.last_shown_at, self.offer.cooldown_days
        return self.now if shown is None or not days else shown + timedelta(days=days)

    @property
    def gap_ends(self) -> datetime:
        others = [at for uid, at in self.gap.shown.items() if uid != self.offer.uid]
        return max(others) + timedelta(hours=self.gap.hours) if others and self.gap.hours else self.now


class _Case(NamedTuple):
    reason: str
    answerable: bool
    promptable: bool
    holds: Callable[[_Situation], bool]
    says: Callable[[_Situation], str]
    until: Callable[[_Situation], datetime | None] = lambda _: None


_CASES = (
    # Not answerable.
    _Case("draft", False, False,
        lambda s: s.offer.status == "draft",
        lambda _: "It is a draft; nobody is asked before it is published."),
    _Case("archived", False, False,
        lambda s: s.offer.status != "published",
        lambda _: "It is archived; nobody is asked any more."),
    _Case("not_started", False, False,
        lambda s: s.offer.starts_at is not None and s.now < s.offer.starts_at,
        lambda s: f"It starts at {_utc(s.offer.starts_at)}.",
        lambda s: s.offer.starts_at),
    _Case("over", False, False,
        lambda s: s.offer.ends_at is not None and s.now >= s.offer.ends_at,
        lambda s: f"It ended at {_utc(s.offer.ends_at)}."),
    _Case("user_type", False, False,
        lambda s: bool(s.offer.user_types) and s.caller.type not in s.offer.user_types,
        lambda s: f"It asks people of the type {s.names.of_types(s.offer.user_types, ' or ')};"
        f" they are of the type {s.names.of_types([s.caller.type])}."),
    # Blank is everyone; once it is filled, the platform's own people are asked only where `main` is in it.
    _Case("tenant", False, False,
        lambda s: bool(s.offer.tenants) and s.caller.workspace not in s.offer.tenants,
        lambda s: f"It asks people of {s.names.of_workspaces(s.offer.tenants, ' or ')};"
        f" they belong to {s.names.of_workspaces([s.caller.workspace])}."),
    _Case("done", False, False,
        lambda s: s.state.outcome is not None,
        lambda s: _DONE[s.state.outcome or "answered"]),
    # Required surveys know no pacing.
    _Case("required", True, True,
        lambda s: s.offer.enforcement == "required",
        lambda _: "It is required: it is asked until it is answered.",
        lambda s: s.offer.ends_at),
    # Optional, and not now.
    _Case("snoozed", True, False,
        lambda s: s.state.snoozed_until is not None and s.now < s.state.snoozed_until,
        lambda s: f"They asked for it later; it waits until {_utc(s.state.snoozed_until)}.",
        lambda s: s.state.snoozed_until),
    _Case("cooldown", True, False,
        lambda s: s.now < s.cooldown_ends,
        lambda s: f"It was shown at {_utc(s.state.last_shown_at)}; its cooldown is {_days(s.offer.cooldown_days)}.",
        lambda s: s.cooldown_ends),
    _Case("max_prompts", True, False,
        lambda s: 0 < (s.offer.max_prompts or 0) <= s.state.impressions,
        lambda s: f"It was shown {count(s.state.impressions, 'time', 'times')}; at most {s.offer.max_prompts} are allowed."),
    _Case("gap", True, False,
        lambda s: s.now < s.gap_ends,
        lambda s: f"Another optional survey was shown; the next one waits until {_utc(s.gap_ends)}.",
        lambda s: s.gap_ends),
    _Case("optional", True, True,
        lambda _: True,
        lambda _: "It is asked now.",
        lambda s: s.offer.ends_at),
)  # fmt: skip


def judge(  # noqa: PLR0917 - all that decides, and what its sentence calls them
    offer: Offer, state: State, caller: Caller, now: datetime, gap: Gap, names: Names = BARE_KEYS
) -> Verdict:
    """The first case that holds. `now` has a zone; without `names` the sentence has keys."""
    situation = _Situation(offer, state, caller, now, gap, names)
    case = _case_of(situation)
    return Verdict(case.answerable, case.promptable, case.reason, case.says(situation), case.until(situation))


def is_promptable(offer: Offer, state: State, caller: Caller, now: datetime, gap: Gap) -> bool:
    """The same, for hundreds at a time: nobody reads why."""
    return _case_of(_Situation(offer, state, caller, now, gap)).promptable


def _case_of(situation: _Situation) -> _Case:
    for case in _CASES:
        if case.holds(situation):
            return case
    raise AssertionError("the last case always holds")


def queue(offers: Iterable[Offer]) -> list[Offer]:
    """Most urgent first: required, soonest end, oldest first publish of the version, uid. Total and stable."""
    return sorted(offers, key=_urgency)


def _urgency(offer: Offer) -> tuple[bool, datetime, datetime, UUID]:
    return offer.enforcement != "required", offer.ends_at or _NEVER, offer.published_at or _NEVER, offer.uid


def is_in_view(state: State, session: int) -> bool:
    """Whether this browser session shows the item already and it was not put off since."""
    return state.shown_in == session and not is_put_off(state)


def gives_way(shown: Offer, first: Offer | None) -> bool:
    """Whether what a session shows waits behind the first of the queue. Who closed an optional one did not act on it, and
    must not miss a required one that becomes due after it."""
    return first is not None and (shown.enforcement, first.enforcement) == ("optional", "required")


def is_put_off(state: State) -> bool:
    """Whether it was snoozed after it was last shown; that snooze may be over by now."""
    return state.snoozed_until is not None and (
        state.last_shown_at is None or state.snoozed_until > state.last_shown_at
    )


def _utc(at: datetime | None) -> str:
    return "–" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _days(number: int | None) -> str:
    return count(number or 0, "day", "days")
