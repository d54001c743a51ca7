"""What the editor offers for the condition of each question: the questions above it, and the answers of the chosen one.

static/js/questions.js does the same in the page while an author types questions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.surveys.authoring import detail_rules
from app.surveys.pages import editor_questions
from app.surveys.pages.editor_questions import Row
from app.surveys.question_types import WITH_VALUES

LONGEST_LABEL = 60


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A question that a condition may name. `lost`: it is chosen, but is no longer above."""

    name: str
    text: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class OfferedAnswer:
    """An answer that a condition may name. `lost`: it is ticked, but no longer exists."""

    text: str
    ticked: bool
    lost: bool = False


@dataclass(frozen=True, slots=True)
class ConditionOffer:
    rows: tuple[AskedRow, ...] = ()
    answers: tuple[OfferedAnswer, ...] = ()


def offers(rows: Sequence[Row]) -> Mapping[str, ConditionOffer]:
    """By the name of a row; removed rows have no offers."""
    kept = editor_questions.live(rows)
    meant = {row.name: one for row, one in zip(kept, editor_questions.questions(kept), strict=True)}
    answers = {name: tuple(map(str, detail_rules.answers_of(one))) for name, one in meant.items()}
    return {row.name: _offer(row, kept[:place], answers) for place, row in enumerate(kept)}


def _offer(row: Row, above: Sequence[Row], answers: Mapping[str, Sequence[str]]) -> ConditionOffer:
    asked = [AskedRow(one.name, _called(number, one)) for number, one in enumerate(above, 1) if one.type in WITH_VALUES]
    if row.show_if and row.show_if not in {one.name for one in asked}:
        asked.append(AskedRow(row.show_if, "A question that is not above this one", lost=True))
    known = [one.strip() for one in answers.get(row.show_if, ())]
    lost = [OfferedAnswer(one, ticked=True, lost=True) for one in row.values if one not in known]
    return ConditionOffer(tuple(asked), (*_answers(known, row.values), *lost))


def _answers(known: Iterable[str], ticked: Sequence[str]) -> Iterable[OfferedAnswer]:
    return (OfferedAnswer(one, one in ticked) for one in dict.fromkeys(known) if one)


def _called(number: int, row: Row) -> str:
    label = " ".join(row.label.split())
    return f"{number}. {label[:LONGEST_LABEL]}" if label else f"{number}."
