"""Makes the figures of app ratings from counts, which app.surveys.ratings.ratings stores. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.counting import mean
from app.host.applications.application_words import PLATFORMS

STARS = (5, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True)
class Figure:
    """Figures of some ratings: `n` of them, their mean to two places, and how many have 5, 4, 3, 2 and 1 stars.

    `latest_mean` counts only the latest rating of each person and app, of `people` people, so that a person who rates
    daily does not count more than a hundred others. `key` is the app's uid or the platform's word; means are None when
    n is 0.
    """

    key: str
    label: str
    n: int
    mean: Decimal | None
    distribution: dict[int, int]
    people: int
    latest_mean: Decimal | None


@dataclass(frozen=True, slots=True)
class RatingFigures(Figure):
    """All ratings, and the same by app (most rated first) and by platform (in their order, only rated ones)."""

    by_app: tuple[Figure, ...]
    by_platform: tuple[Figure, ...]


def figures_of(rows: Sequence[Any]) -> RatingFigures:
    """From rows of uid, name, platform, rating, number and latest."""
    apps = _grouped(rows, lambda row: (str(row.uid), row.name))
    platforms = _grouped(rows, lambda row: (row.platform, PLATFORMS[row.platform]))
    order = list(PLATFORMS)
    whole = figure("", "All apps", rows)
    return RatingFigures(
        **{name: getattr(whole, name) for name in Figure.__dataclass_fields__},
        by_app=tuple(sorted(apps, key=lambda one: (-one.n, one.label.casefold(), one.key))),
        by_platform=tuple(sorted(platforms, key=lambda one: order.index(one.key))),
    )


def figure(key: str, label: str, rows: Iterable[Any]) -> Figure:
    """From rows of rating, number and latest."""
    stars, latest = Counter[int](), Counter[int]()
    for row in rows:
        stars[row.rating] += row.number
        latest[row.rating] += row.latest
    return Figure(
        key,
        label,
        stars.total(),
        _mean_of(stars),
        {one: stars[one] for one in STARS},
        latest.total(),
        _mean_of(latest),
    )


def _mean_of(stars: Counter[int]) -> Decimal | None:
    return mean(sum(one * number for one, number in stars.items()), stars.total())


def _grouped(rows: Sequence[Any], name: Callable[[Any], tuple[str, str]]) -> list[Figure]:
    groups: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        groups.setdefault(name(row), []).append(row)
    return [figure(key, label, members) for (key, label), members in groups.items()]
