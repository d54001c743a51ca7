"""Who is asked which survey, when, and why not: one table of cases. Pure.

The queue, `respond`, the web prompt and *Why (not) asked?* all use it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.counting import count
from app.dates import utc_time
from app.surveys.words import BARE_KEYS, Names, Shown

_NEVER = datetime.max.replace(tzinfo=UTC)
_DONE = {
    "answered": "They have answered this version.",
    "agreed": "They have agreed to this version; Responses says whether they withdrew it since.",
    "declined": "They have declined this version.",
    "opted_out": "They have opted out of this version.",
    "opted_out_of_rounds": "They have opted out of an earlier round, which holds for all later ones.",
}


# Every call makes one of each for every published survey, and making a dataclass takes eight times as long.
class Offer(msgspec.Struct, frozen=True):
    """One survey as it is now. `workspace` is where it was written; pacing is None when it is required; `needs` is what
    an app must be able to show to get it (`question_details.ABILITIES`); the portal can show all."""

    workspace: str
    uid: UUID
    status: str
    version: int
    enforcement: str
    user_types: Sequence[str] = ()
    tenants: Sequence[str] = ()
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    snooze_hours: int | None = None
    cooldown_days: int | None = None
    max_prompts: int | None = None
    published_at: datetime | None = None
    needs: Sequence[str] = ()


class PromptHistory(msgspec.Struct, frozen=True):
    """What happened between one person and the survey's current version. `outcome` is that of the ledger,
    `opting_out.OF_ROUNDS` when they opted out of an earlier round, None without a row. `shown_in` is the browser
    session whose prompt shows it; `handed_out_at` is when an app first got it behind another survey."""

    impressions: int = 0
    last_shown_at: datetime | None = None
    snoozed_until: datetime | None = None
    outcome: str | None = None
    shown_in: int | None = None
    handed_out_at: datetime | None = None

    @property
    def shown(self) -> Shown:
        """How far it came to the person; this is evidence for what they say."""
        if self.impressions:
            return "first"
        return "not_handed_out" if self.handed_out_at is None else "in_queue"


@dataclass(frozen=True, slots=True)
class Caller:
    """A person who is asked: their user type and their workspace."""

    type: str
    workspace: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The policy `optional_gap_hours` (0 means off), and when the person last saw which optional survey, in any
    workspace."""

    hours: int = 0
    shown: Mapping[UUID, datetime] = field(default_factory=dict)


_NO_GAP = Gap()


@dataclass(frozen=True, slots=True)
class PacingVerdict:
    """`answerable`: `respond` accepts an answer; `promptable`: the survey may be shown. `changes_at` is when this
    reason ends by itself."""

    answerable: bool
    promptable: bool
    reason: str
    sentence: str
    changes_at: datetime | None


@dataclass(slots=True)
class _Situation:
    offer: Offer
    state: PromptHistory
    caller: Caller
    now: datetime
    gap: Gap
    names: Names = BARE_KEYS

    @property
    def cooldown_ends(self) -> datetime:
        return _cooldown_ends(self.offer, self.state, self.now)

    @property
    def gap_ends(self) -> datetime:
        return _gap_ends(self.offer, self.now, self.gap)


class _Case(NamedTuple):
    answerable: bool
    promptable: bool
    says: Callable[[_Situation], str]
    until: Callable[[_Situation], datetime | None] = lambda _: None


CASES = {
    "draft": _Case(False, False,
        lambda _: "It is a draft; it is asked only after it is published."),
    "archived": _Case(False, False,
        lambda _: "It is archived; it is no longer asked."),
    "not_started": _Case(False, False,
        lambda s: f"It starts on {_utc(s.offer.starts_at)}.",
        lambda s: s.offer.starts_at),
    "over": _Case(False, False,
        lambda s: f"It ended on {_utc(s.offer.ends_at)}."),
    "user_type": _Case(False, False,
        lambda s: f"It asks people of the type {s.names.of_types(s.offer.user_types, ' or ')};"
        f" they are of the type {s.names.of_types([s.caller.type])}."),
    "tenant": _Case(False, False,
        lambda s: f"It asks people of {s.names.of_workspaces(s.offer.tenants, ' or ')};"
        f" they belong to {s.names.of_workspaces([s.caller.workspace])}."),
    "done": _Case(False, False,
        lambda s: _DONE[s.state.outcome or "answered"]),
    "required": _Case(True, True,
        lambda _: "It is required: it is asked until it is answered.",
        lambda s: s.offer.ends_at),
    "snoozed": _Case(True, False,
        lambda s: f"They asked for it later; it waits until {_utc(s.state.snoozed_until)}.",
        lambda s: s.state.snoozed_until),
    "cooldown": _Case(True, False,
        lambda s: f"It was shown on {_utc(s.state.last_shown_at)}; its cooldown is {_days(s.offer.cooldown_days)}.",
        lambda s: s.cooldown_ends),
    "max_prompts": _Case(True, False,
        lambda s: f"It was shown {count(s.state.impressions, 'time', 'times')}; at most {s.offer.max_prompts} are allowed."),
    "gap": _Case(True, False,
        lambda s: f"Another optional survey was shown; the next one waits until {_utc(s.gap_ends)}.",
        lambda s: s.gap_ends),
    "optional": _Case(True, True,
        lambda _: "It is asked now.",
        lambda s: s.offer.ends_at),
}  # fmt: skip


def judge(  # noqa: PLR0917 - all that decides, and what its sentence calls them
    offer: Offer, state: PromptHistory, caller: Caller, now: datetime, gap: Gap, names: Names = BARE_KEYS
) -> PacingVerdict:
    """The first case that holds. `now` has a zone; without `names` the sentence uses keys."""
    reason = _reason(offer, state, caller, now, gap)
    case, situation = CASES[reason], _Situation(offer, state, caller, now, gap, names)
    return PacingVerdict(case.answerable, case.promptable, reason, case.says(situation), case.until(situation))


def is_promptable(offer: Offer, state: PromptHistory, caller: Caller, now: datetime, gap: Gap) -> bool:
    """The same for hundreds of people at a time, without reasons."""
    return CASES[_reason(offer, state, caller, now, gap)].promptable


def is_answerable(offer: Offer, state: PromptHistory, caller: Caller, now: datetime) -> bool:
    """True when `respond` accepts an answer; pacing and the gap never prevent it."""
    return CASES[_reason(offer, state, caller, now, _NO_GAP)].answerable


def _reason(offer: Offer, state: PromptHistory, caller: Caller, now: datetime, gap: Gap) -> str:  # noqa: C901, PLR0911 - a line a case
    if offer.status == "draft":
        return "draft"
    if offer.status != "published":
        return "archived"
    if offer.starts_at is not None and now < offer.starts_at:
        return "not_started"
    if offer.ends_at is not None and now >= offer.ends_at:
        return "over"
    if offer.user_types and caller.type not in offer.user_types:
        return "user_type"
    # Blank means everyone. Otherwise the platform's own people are asked only if it contains `main`.
    if offer.tenants and caller.workspace not in offer.tenants:
        return "tenant"
    if state.outcome is not None:
        return "done"
    # Pacing never applies to required surveys.
    if offer.enforcement == "required":
        return "required"
    # Optional, and not now.
    if state.snoozed_until is not None and now < state.snoozed_until:
        return "snoozed"
    if now < _cooldown_ends(offer, state, now):
        return "cooldown"
    if 0 < (offer.max_prompts or 0) <= state.impressions:
        return "max_prompts"
    if now < _gap_ends(offer, now, gap):
        return "gap"
    return "optional"


def _cooldown_ends(offer: Offer, state: PromptHistory, now: datetime) -> datetime:
    shown, days = state.last_shown_at, offer.cooldown_days
    return now if shown is None or not days else shown + timedelta(days=days)


def _gap_ends(offer: Offer, now: datetime, gap: Gap) -> datetime:
    if not gap.hours or not gap.shown:
        return now
    others = [at for uid, at in gap.shown.items() if uid != offer.uid]
    return max(others) + timedelta(hours=gap.hours) if others else now


def queue(offers: Iterable[Offer]) -> list[Offer]:
    """Most urgent first: required, soonest end, oldest first publish of the version, uid. Total and stable."""
    return sorted(offers, key=_urgency)


def _urgency(offer: Offer) -> tuple[bool, datetime, datetime, UUID]:
    return offer.enforcement != "required", offer.ends_at or _NEVER, offer.published_at or _NEVER, offer.uid


def is_in_view(state: PromptHistory, session: int) -> bool:
    """True when this browser session shows the item already and the person has not put it off since."""
    return state.shown_in == session and not is_put_off(state)


def gives_way(shown: Offer, first: Offer | None) -> bool:
    """True when what a session shows must wait behind the first of the queue. A person who closes an optional survey
    has not answered it, and must not miss a required one that becomes due later."""
    return first is not None and (shown.enforcement, first.enforcement) == ("optional", "required")


def is_put_off(state: PromptHistory) -> bool:
    """True when it was snoozed after it was last shown; that snooze may have ended already."""
    return state.snoozed_until is not None and (
        state.last_shown_at is None or state.snoozed_until > state.last_shown_at
    )


def _utc(at: datetime | None) -> str:
    return "–" if at is None else utc_time(at, None)


def _days(number: int | None) -> str:
    return count(number or 0, "day", "days")
