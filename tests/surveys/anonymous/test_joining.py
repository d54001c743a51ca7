"""The pure rules of anonymous results: padding, counting, joining small groups, shuffling."""

from collections import Counter
from random import Random
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.surveys.anonymous import ballots, joining
from app.surveys.anonymous.joining import FEWEST, Ballot, BallotCount, ResultRow
from app.surveys.ledger.chain import LedgerAnswer, MatrixCell

Q, R = str(UUID(int=1)), str(UUID(int=2))


@pytest.mark.parametrize(
    ("people", "together"),
    [
        ({}, ""),
        ({"A": 5}, ""),
        ({"A": 4}, "A"),
        ({"A": 5, "B": 5}, ""),
        # A group of four never stands alone as Others: the smallest of the others joins it.
        ({"A": 4, "B": 5, "C": 6}, "AB"),
        ({"A": 4, "B": 5}, "AB"),
        ({"A": 4, "B": 1, "C": 9}, "AB"),
        ({"A": 2, "B": 3, "C": 9}, "AB"),
        ({"A": 2, "B": 2, "C": 9, "D": 7}, "ABD"),
        ({"A": 4, "B": 4, "C": 4}, "ABC"),
        ({"A": 1, "B": 1, "C": 1}, "ABC"),
        ({"B": 7, "A": 7, "C": 1}, "AC"),
        # People of no known department are a group as any other.
        ({"": 4, "A": 8, "B": 9}, "A"),
    ],
)
def test_which_groups_stand_together(people: dict[str, int], together: str) -> None:
    expected = {*together} | ({""} if people.get("", FEWEST) < FEWEST else set())
    assert joining.others(people) == expected


GROUPS = st.dictionaries(st.text("ABCDEF", max_size=2), st.integers(1, 12), max_size=8)


@given(GROUPS)
def test_nothing_is_told_of_fewer_than_five(people: dict[str, int]) -> None:
    """Neither of a group, nor of what is left of all when the groups are taken away."""
    together = joining.others(people)
    assert all(people[group] >= FEWEST for group in people if group not in together)
    left = sum(people[group] for group in together)
    assert not together or left >= FEWEST or together == frozenset(people)
    assert len(together) != 1 or together == frozenset(people)


@pytest.mark.parametrize(
    ("length", "size"),
    [
        (0, 2048),
        (2048, 2048),
        (2049, 16384),
        (16384, 16384),
        (16385, 65536),
        (65536, 65536),
        (65537, 131072),
        (200_000, 262_144),
    ],
)
def test_a_ballot_has_one_of_a_few_lengths(length: int, size: int) -> None:
    assert len(ballots.padded("x" * length).encode()) == size


@given(st.text(max_size=3000))
def test_padding_counts_bytes_and_keeps_the_text(text: str) -> None:
    padded = ballots.padded(text)
    assert len(padded.encode("utf-8", "surrogatepass")) in ballots.SIZES
    assert padded.startswith(text)
    assert not padded[len(text) :].strip(" ")


def counted(*said: tuple[str | None, object], texts: tuple[str, ...] = ()) -> BallotCount:
    """A ballot with one answer to Q for each group and value."""
    count = BallotCount(texts)
    for group, value in said:
        count.add(Ballot([LedgerAnswer(Q, value)], group))  # type: ignore[arg-type]
    return count


def told(count: BallotCount, seed: int = 1) -> dict[tuple[str | None, bool, str], int]:
    return {(one.grouped, one.joined, one.choice): one.people for one in count.rows(Random(seed))}


def test_four_ballots_come_to_nothing_and_five_to_something() -> None:
    assert counted(*[(None, "Good")] * 4).rows(Random(1)) == []
    assert told(counted(*[(None, "Good")] * 5)) == {(None, False, ""): 5, (None, False, "Good"): 5}


def test_groups_of_four_are_joined() -> None:
    four, five, six = [("A", "Good")] * 4, [("B", "Bad")] * 5, [("C", "Good")] * 6
    assert told(counted(*four, *five, *six)) == {
        ("C", False, ""): 6,
        ("C", False, "Good"): 6,
        (None, True, ""): 9,
        (None, True, "Good"): 4,
        (None, True, "Bad"): 5,
    }


def test_where_all_groups_are_joined_nothing_is_split() -> None:
    assert told(counted(*[("A", "Good")] * 4, *[("B", "Bad")] * 5)) == {
        (None, False, ""): 9,
        (None, False, "Good"): 4,
        (None, False, "Bad"): 5,
    }


def test_a_question_of_few_answers_has_no_groups() -> None:
    count = counted(*[("A", "Good")] * 6)
    count.add(Ballot([LedgerAnswer(R, "Once")], "B"))
    assert {one.grouped for one in count.rows(Random(1)) if str(one.question) == R} == {None}


def test_comments_have_no_group_and_equal_ones_stand_once() -> None:
    said = [("A", "Cold soup"), ("B", "Cold soup"), *[("C", f"No {n}") for n in range(5)]]
    found = told(counted(*said, texts=(Q,)))
    assert {(grouped, joined) for grouped, joined, _ in found} == {(None, False)}
    assert (found[None, False, ""], found[None, False, "Cold soup"]) == (7, 2)


def test_ticks_and_rows_come_apart() -> None:
    found = told(counted(*[(None, ["Rest", "Tea"])] * 5, (None, [MatrixCell("Food", "Good")])))
    assert found == {
        (None, False, ""): 6,
        (None, False, "Rest"): 5,
        (None, False, "Tea"): 5,
        (None, False, "Food\tGood"): 1,
    }


BALLOTS = st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from(["x", "y", "z"])), max_size=30)


@settings(max_examples=60, deadline=None)
@given(BALLOTS, st.randoms(use_true_random=False))
def test_the_order_of_ballots_leaves_no_trace(said: list[tuple[str, str]], luck: Random) -> None:
    """The same luck gives the same rows, in the same order, whatever order the ballots came in."""
    other = list(said)
    luck.shuffle(other)
    assert counted(*said).rows(Random(7)) == counted(*other).rows(Random(7))


@settings(max_examples=60, deadline=None)
@given(BALLOTS)
def test_no_answer_is_lost_or_made_up(said: list[tuple[str, str]]) -> None:
    found = counted(*said).rows(Random(1))
    each: Counter[str] = Counter()
    for one in found:
        each[one.choice] += one.people
    assert len(said) < FEWEST or each == Counter(value for _, value in said) + Counter({"": len(said)})


def test_the_rows_are_shuffled() -> None:
    count = counted(*[(None, str(n)) for n in range(9)])
    orders = {tuple(one.choice for one in count.rows(Random(seed))) for seed in range(5)}
    assert len(orders) == 5


def test_the_hash_is_of_the_results_in_any_order() -> None:
    rows = [ResultRow(UUID(Q), grouped, False, "x", 5) for grouped in (None, "", "A")]
    assert joining.results_hash(rows) == joining.results_hash(rows[::-1])
    assert joining.results_hash(rows) != joining.results_hash(rows[1:])
