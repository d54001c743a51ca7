"""What becomes of problems, case by case, and that a look after which nothing changed changes nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.problems.findings import Finding
from app.problems.transitions import LATELY, UNTIL_IT_CHANGES, KnownProblem, Merged, merge

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
FOUND = Finding("silence", "terminal", "T1", "Terminal T1 is silent", "", 5, 2, None, 7, {"terminal": "T1"})
OPEN = KnownProblem(1, "silence", "terminal", "T1", "Terminal T1 is silent", "", 5, 2, 7, {"terminal": "T1"}, NOW)
DISMISSED = replace(OPEN, closed_at=NOW - timedelta(days=3), closed_by="person")
MORE = replace(FOUND, held_punches=6, evidence=8)
FEWER = replace(FOUND, held_punches=4)


def left(problem: KnownProblem, ago: timedelta) -> KnownProblem:
    at = NOW - ago
    return replace(problem, closed_at=problem.closed_at or at, closed_by=problem.closed_by or "itself", left_at=at)


def became(merged: Merged) -> list[str]:
    names = ("opening", "opening_again", "changing", "returning", "closing", "over")
    return [name for name in names for _ in getattr(merged, name)]


CASES = {
    "nothing was found before or now": ([], [], [], []),
    "a new one": ([FOUND], [], [], ["opening"]),
    "it says the same": ([FOUND], [OPEN], [], []),
    "it holds more": ([MORE], [OPEN], [], ["changing"]),
    "it holds fewer": ([FEWER], [OPEN], [], ["changing"]),
    "only its facts differ": ([replace(FOUND, facts={"terminal": "T1", "name": "Door"})], [OPEN], [], ["changing"]),
    "it is gone": ([], [OPEN], [], ["closing"]),
    "dismissed, and no new evidence": ([FOUND], [DISMISSED], [], []),
    "dismissed, and less of it": ([FEWER], [DISMISSED], [], []),
    "dismissed, and new evidence": ([MORE], [DISMISSED], [], ["opening_again"]),
    "dismissed, and gone": ([], [DISMISSED], [], ["over"]),
    "it closed lately": ([FOUND], [], [left(OPEN, LATELY - timedelta(seconds=1))], ["opening_again"]),
    "it closed an hour ago": ([FOUND], [], [left(OPEN, LATELY)], ["opening"]),
    "dismissed, gone lately, and back": ([FOUND], [], [left(DISMISSED, timedelta(minutes=5))], ["returning"]),
    "dismissed, gone lately, and back with more": (
        [MORE],
        [],
        [left(DISMISSED, timedelta(minutes=5))],
        ["opening_again"],
    ),
    "two findings for one subject": ([FOUND, MORE], [], [], ["opening"]),
    "one of each": ([FOUND], [replace(OPEN, id=2, subject_id="T2")], [], ["opening", "closing"]),
}


@pytest.mark.parametrize("case", CASES)
def test_each_case_of_the_table(case: str) -> None:
    found, standing, gone, wanted = CASES[case]
    assert became(merge(found, standing, gone, NOW)) == wanted


def test_of_several_that_left_lately_the_last_one_continues() -> None:
    older, newer = left(OPEN, timedelta(minutes=50)), replace(left(OPEN, timedelta(minutes=10)), id=2)
    assert [one.problem.id for one in merge([FOUND], [], [newer, older], NOW).opening_again] == [2]


@pytest.mark.parametrize(
    ("finding", "until", "wakes"),
    [
        (MORE, UNTIL_IT_CHANGES, True),
        (FEWER, UNTIL_IT_CHANGES, False),
        (MORE, NOW + timedelta(hours=1), False),
        (MORE, None, False),
    ],
)
def test_a_snooze_until_it_changes_ends_with_new_evidence(
    finding: Finding, until: datetime | None, wakes: bool
) -> None:
    (changed,) = merge([finding], [replace(OPEN, snoozed_until=until)], [], NOW).changing
    assert changed.wakes is wakes


def test_a_new_title_stands_in_the_history_and_a_number_does_not() -> None:
    notes = {
        one.title: merge([one], [OPEN], [], NOW).changing[0].note for one in (MORE, replace(MORE, title="It is worse"))
    }
    assert notes == {MORE.title: "", "It is worse": "It is worse"}


findings = st.builds(
    replace,
    st.just(FOUND),
    subject_id=st.sampled_from("ABC"),
    held_punches=st.integers(0, 3),
    evidence=st.integers(0, 3),
)
known = st.builds(
    replace, st.sampled_from([OPEN, DISMISSED]), id=st.integers(1, 99), subject_id=st.sampled_from("ABC"), evidence=st.integers(0, 3)
)  # fmt: skip


@given(st.lists(findings), st.lists(known, unique_by=(lambda one: one.key, lambda one: one.id)))
def test_merging_what_was_merged_changes_nothing(found: list[Finding], standing: list[KnownProblem]) -> None:
    merged = merge(found, standing, [], NOW)
    assert merge(found, after(merged, standing), [], NOW).changes_nothing


def after(merged: Merged, standing: list[KnownProblem]) -> list[KnownProblem]:
    """What stands once it was carried out."""
    gone = {one.id for one in (*merged.closing, *merged.over)}
    renewed = {one.problem.key: one.finding for one in (*merged.opening_again, *merged.changing)}
    kept = [one for one in standing if one.key not in renewed and one.id not in gone]
    return kept + [as_known(one) for one in (*renewed.values(), *merged.opening)]


def as_known(one: Finding) -> KnownProblem:
    return KnownProblem(
        1, *one.key, one.title, one.detail, one.held_punches, one.held_people, one.evidence, {**one.facts}, NOW
    )
