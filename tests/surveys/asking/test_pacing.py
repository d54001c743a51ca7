"""Who is asked which survey, when: every case to the second, and what holds for all of them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.surveys.asking.pacing import (
    Caller,
    Gap,
    Offer,
    PacingVerdict,
    PromptHistory,
    gives_way,
    is_in_view,
    is_promptable,
    is_put_off,
    judge,
    queue,
)

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
ONE, OTHER = UUID(int=1), UUID(int=2)
NORA = Caller("employee", "main")
EVE = Caller("admin", "globex")
OPTIONAL = Offer("main", ONE, "published", 1, "optional", snooze_hours=24, cooldown_days=1, max_prompts=5)
REQUIRED = Offer("main", ONE, "published", 1, "required")


def verdict(offer: Offer = OPTIONAL, who: Caller = NORA, *, gap: Gap | None = None, **state: Any) -> PacingVerdict:
    return judge(offer, PromptHistory(**state), who, NOW, gap or Gap())


def test_an_optional_survey_is_asked_until_it_ends() -> None:
    ends = NOW + HOUR
    assert verdict(replace(OPTIONAL, ends_at=ends)) == PacingVerdict(True, True, "optional", "It is asked now.", ends)


@pytest.mark.parametrize(("status", "reason"), [("draft", "draft"), ("archived", "archived")])
def test_only_published_ones_are_answerable(status: str, reason: str) -> None:
    found = verdict(replace(REQUIRED, status=status))
    assert (found.answerable, found.promptable, found.reason) == (False, False, reason)


@pytest.mark.parametrize(
    ("starts", "ends", "reason"),
    [
        (NOW + SECOND, None, "not_started"),
        (NOW, None, "optional"),
        (None, NOW + SECOND, "optional"),
        (None, NOW, "over"),
        (NOW - DAY, NOW - SECOND, "over"),
        (NOW, NOW + SECOND, "optional"),
    ],
)
def test_the_window_holds_its_start_and_not_its_end(starts: Any, ends: Any, reason: str) -> None:
    found = verdict(replace(OPTIONAL, starts_at=starts, ends_at=ends))
    assert (found.reason, found.answerable) == (reason, reason == "optional")
    if reason == "not_started":
        assert found.changes_at == starts


@pytest.mark.parametrize(
    ("types", "tenants", "who", "reason"),
    [
        ((), (), NORA, "optional"),
        ((), (), EVE, "optional"),
        (("employee", "staff"), (), NORA, "optional"),
        (("staff",), (), NORA, "user_type"),
        ((), ("acme", "globex"), EVE, "optional"),
        ((), ("acme",), EVE, "tenant"),
        ((), ("acme",), NORA, "tenant"),
        ((), ("acme", "main"), NORA, "optional"),
        ((), ("main",), EVE, "tenant"),
        (("staff",), ("acme",), NORA, "user_type"),
    ],
)
def test_a_blank_audience_is_everyone_and_a_list_is_only_those(
    types: tuple[str, ...], tenants: tuple[str, ...], who: Caller, reason: str
) -> None:
    assert verdict(replace(OPTIONAL, user_types=types, tenants=tenants), who).reason == reason


@pytest.mark.parametrize("outcome", ["answered", "agreed", "declined", "opted_out"])
@pytest.mark.parametrize("offer", [OPTIONAL, REQUIRED])
def test_a_row_in_the_ledger_ends_it(offer: Offer, outcome: str) -> None:
    found = verdict(offer, outcome=outcome)
    assert (found.answerable, found.reason, found.changes_at) == (False, "done", None)
    assert outcome.replace("_", " ") in found.sentence


@pytest.mark.parametrize(
    ("state", "reason", "until"),
    [
        ({"snoozed_until": NOW + SECOND}, "snoozed", NOW + SECOND),
        ({"snoozed_until": NOW}, "optional", None),
        ({"last_shown_at": NOW - DAY + SECOND, "impressions": 1}, "cooldown", NOW + SECOND),
        ({"last_shown_at": NOW - DAY, "impressions": 1}, "optional", None),
        ({"last_shown_at": NOW - DAY, "impressions": 4}, "optional", None),
        ({"last_shown_at": NOW - DAY, "impressions": 5}, "max_prompts", None),
        ({"last_shown_at": NOW, "impressions": 9, "snoozed_until": NOW + DAY}, "snoozed", NOW + DAY),
        ({"last_shown_at": NOW, "impressions": 9}, "cooldown", NOW + DAY),
    ],
)
def test_pacing_to_the_second(state: dict[str, Any], reason: str, until: datetime | None) -> None:
    found = verdict(**state)
    assert (found.answerable, found.promptable, found.reason) == (True, reason == "optional", reason)
    assert found.changes_at == until


@pytest.mark.parametrize("none", [0, None])
def test_zero_or_blank_is_no_cooldown_and_no_limit(none: int | None) -> None:
    free = replace(OPTIONAL, cooldown_days=none, max_prompts=none)
    assert verdict(free, last_shown_at=NOW, impressions=1000).promptable


def test_a_required_survey_knows_no_pacing() -> None:
    shown = {OTHER: NOW}
    found = verdict(REQUIRED, gap=Gap(48, shown), impressions=99, last_shown_at=NOW, snoozed_until=NOW + DAY)
    assert (found.promptable, found.reason) == (True, "required")


@pytest.mark.parametrize(
    ("hours", "shown", "reason"),
    [
        (0, {OTHER: NOW}, "optional"),
        (2, {}, "optional"),
        (2, {OTHER: NOW - 2 * HOUR}, "optional"),
        (2, {OTHER: NOW - 2 * HOUR + SECOND}, "gap"),
        (2, {ONE: NOW - SECOND}, "optional"),
        (2, {ONE: NOW - SECOND, OTHER: NOW - HOUR}, "gap"),
        (2, {UUID(int=3): NOW - 3 * HOUR, OTHER: NOW - HOUR, UUID(int=4): NOW - 5 * HOUR}, "gap"),
    ],
)
def test_a_gap_spaces_different_optional_surveys(hours: int, shown: dict[UUID, datetime], reason: str) -> None:
    found = verdict(gap=Gap(hours, shown))
    assert (found.answerable, found.reason) == (True, reason)
    if reason == "gap":
        assert found.changes_at == shown[OTHER] + timedelta(hours=hours)


def test_the_queue_puts_required_first_then_the_soonest_end_then_the_oldest_then_the_uid() -> None:
    early, late = NOW - DAY, NOW
    wanted = [
        replace(REQUIRED, uid=UUID(int=9), ends_at=NOW + DAY, published_at=late),
        replace(REQUIRED, uid=UUID(int=8), published_at=early),
        replace(OPTIONAL, uid=UUID(int=7), ends_at=NOW + HOUR, published_at=late),
        replace(OPTIONAL, uid=UUID(int=6), ends_at=NOW + DAY, published_at=early),
        replace(OPTIONAL, uid=UUID(int=5), published_at=early),
        replace(OPTIONAL, uid=UUID(int=3), published_at=late),
        replace(OPTIONAL, uid=UUID(int=4), published_at=late),
    ]
    assert queue(reversed(wanted)) == wanted


def test_what_a_session_shows_stays_in_view_until_it_is_put_off() -> None:
    assert is_in_view(PromptHistory(shown_in=7, last_shown_at=NOW), 7)
    assert not is_in_view(PromptHistory(shown_in=7, last_shown_at=NOW), 8)
    assert not is_in_view(PromptHistory(shown_in=7, last_shown_at=NOW, snoozed_until=NOW + HOUR), 7)
    assert is_put_off(PromptHistory(snoozed_until=NOW))
    assert not is_put_off(PromptHistory(last_shown_at=NOW, snoozed_until=NOW - HOUR))


def test_an_optional_one_in_view_gives_way_to_a_required_one_alone() -> None:
    required = replace(OPTIONAL, enforcement="required")
    assert gives_way(OPTIONAL, required)
    assert not gives_way(OPTIONAL, OPTIONAL)
    assert not gives_way(OPTIONAL, None)
    assert not gives_way(required, required)


WHEN = st.none() | st.integers(-90_000, 90_000).map(lambda seconds: NOW + timedelta(seconds=seconds))
OFFERS = st.builds(
    Offer,
    workspace=st.sampled_from(["main", "globex"]),
    uid=st.integers(1, 6).map(lambda number: UUID(int=number)),
    status=st.sampled_from(["draft", "published", "published", "archived"]),
    version=st.just(1),
    enforcement=st.sampled_from(["optional", "required"]),
    user_types=st.sampled_from([(), ("employee",), ("client",)]),
    tenants=st.sampled_from([(), ("main",), ("acme",)]),
    starts_at=WHEN, ends_at=WHEN, published_at=WHEN,
    snooze_hours=st.just(24), cooldown_days=st.integers(0, 2), max_prompts=st.integers(0, 3),
)  # fmt: skip
STATES = st.builds(
    PromptHistory, impressions=st.integers(0, 4), last_shown_at=WHEN, snoozed_until=WHEN,
    outcome=st.none() | st.sampled_from(["answered", "opted_out"]),
)  # fmt: skip
GAPS = st.builds(Gap, st.sampled_from([0, 1, 48]), st.dictionaries(st.just(OTHER), st.just(NOW - HOUR), max_size=1))
QUICK = settings(max_examples=150, deadline=None, database=None, derandomize=True)


@QUICK
@given(OFFERS, STATES, GAPS)
def test_every_situation_has_a_verdict_with_a_sentence(offer: Offer, state: PromptHistory, gap: Gap) -> None:
    found = judge(offer, state, NORA, NOW, gap)
    assert found.sentence.endswith(".")
    assert found.answerable or not found.promptable
    assert is_promptable(offer, state, NORA, NOW, gap) is found.promptable
    if found.promptable and offer.enforcement == "optional":
        assert state.snoozed_until is None or state.snoozed_until <= NOW


@QUICK
@given(OFFERS, STATES, GAPS)
def test_a_reason_holds_until_the_moment_it_names(offer: Offer, state: PromptHistory, gap: Gap) -> None:
    found = judge(offer, state, NORA, NOW, gap)
    if found.changes_at is not None and found.changes_at > NOW:
        before, then = (
            judge(offer, state, NORA, found.changes_at - wait, gap) for wait in (SECOND / 10**6, 0 * SECOND)
        )
        assert then.reason != found.reason
        if found.changes_at - SECOND > NOW and found.reason not in ("optional", "required"):
            assert before.reason in (found.reason, "over")


@QUICK
@given(st.lists(OFFERS, max_size=6, unique_by=lambda offer: offer.uid), st.randoms(use_true_random=False))
def test_the_queue_is_total_and_stable(offers: list[Offer], random: Any) -> None:
    shuffled = [*offers]
    random.shuffle(shuffled)
    assert queue(offers) == queue(shuffled)
    assert sorted(queue(offers), key=lambda offer: offer.uid) == sorted(offers, key=lambda offer: offer.uid)
