"""The net promoter score of a question: promoters minus detractors. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from app.counting import percent

PROMOTER, PASSIVE = 9, 7


@dataclass(frozen=True, slots=True)
class PromoterScore:
    """Percentage of promoters (9 and 10) minus that of detractors (0 to 6), of `people`."""

    people: int
    promoters: int
    detractors: int

    @property
    def score(self) -> Decimal:
        return percent(self.promoters - self.detractors, self.people) or Decimal("0.0")

    @property
    def told(self) -> str:
        """The score as it is printed: `−33.3`, with a minus sign."""
        return str(self.score).replace("-", "−")

    @property
    def passives(self) -> int:
        return self.people - self.promoters - self.detractors


def promoters(given: Mapping[str, int]) -> PromoterScore | None:
    """None without a score."""
    if not given:
        return None
    loyal = sum(people for score, people in given.items() if int(score) >= PROMOTER)
    lost = sum(people for score, people in given.items() if int(score) < PASSIVE)
    return PromoterScore(sum(given.values()), loyal, lost)
