"""A card for each question of a survey, with its result.

The figures need not come from the ledger. Without `rows`, no number leads to the responses behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.charts import bars
from app.charts.bars import BarChart, BarHeads, BarRow
from app.surveys.results.breakdowns import WITHOUT_BARS, Bar, Breakdown
from app.surveys.results.figures import AskedQuestion
from app.web.templating import with_query

RESPONSES = "/surveys/responses"


@dataclass(frozen=True, slots=True)
class QuestionCard:
    """`url` leads to the responses that answered it, "" when there are none to show."""

    found: Breakdown
    url: str
    chart: BarChart | None

    @property
    def question(self) -> AskedQuestion:
        return self.found.question

    @property
    def people(self) -> int:
        return self.found.people


def drawn(found: Sequence[Breakdown], rows: Mapping[str, Any] | None) -> list[QuestionCard]:
    """`rows` is the query of the responses that the figures count; None when no row may be shown."""
    return [_card(one, rows) for one in found]


def _card(one: Breakdown, rows: Mapping[str, Any] | None) -> QuestionCard:
    query = None if rows is None else {**rows, "question": one.question.key}
    chart = _chart(one, query) if one.question.type not in (*WITHOUT_BARS, "matrix") else None
    return QuestionCard(one, with_query(RESPONSES, query) if query else "", chart)


def _chart(one: Breakdown, query: Mapping[str, Any] | None) -> BarChart:
    of_stars = one.question.type == "star_rating"
    lines = [_line(bar, of_stars, query) for bar in one.bars]
    return bars.distribution(lines, BarHeads("Stars" if of_stars else "Answer", "People"), title=one.question.label)


def _line(bar: Bar, of_stars: bool, query: Mapping[str, Any] | None) -> BarRow:  # noqa: FBT001 - what is drawn
    leads = query is not None and bar.people and bar.choice is not None
    return BarRow(
        f"{bar.label} ★" if of_stars else bar.label,
        bar.people,
        bar.percent,
        with_query(RESPONSES, query or {}, choice=bar.choice) if leads else None,
        "warn" if of_stars else "accent",
    )
