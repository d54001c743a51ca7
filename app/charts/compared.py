"""A period against the one before it, in words that claim no more than the numbers hold. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from app.counting import count, percent, rounded

DayRange = tuple[date, date]
# Of a smaller number before, a percent says more than the numbers do.
LEAST_BASE = 50
# A larger change is said in numbers: "1,240 more" is plainer than "620 %".
MOST_PERCENT = 300


@dataclass(frozen=True, slots=True)
class PeriodPair:
    """The days `first` to `last` and as many before them.
    Days from `today` on are not over: they are never compared."""

    first: date
    last: date
    today: date

    @property
    def length(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def earlier(self) -> DayRange | None:
        """The days before, both ends included; None when the calendar has none."""
        if self.first.toordinal() <= self.length:
            return None
        return self.first - timedelta(days=self.length), self.first - timedelta(days=1)

    @property
    def whole(self) -> DayRange | None:
        """The shown days that are over."""
        last = min(self.last, self.today - timedelta(days=1))
        return (self.first, last) if last >= self.first else None

    @property
    def counterparts(self) -> DayRange | None:
        """The days before that the whole ones are compared with: each so many days earlier as the period is long."""
        if self.whole is None or self.earlier is None:
            return None
        first, last = self.whole
        return first - timedelta(days=self.length), last - timedelta(days=self.length)

    @property
    def before(self) -> str:
        """`the 14 days before`."""
        return "the day before" if self.length == 1 else f"the {self.length} days before"

    @property
    def when(self) -> str:
        """Where the counterparts lie: `in the 14 days before`, or `14 days earlier` than those days that are over."""
        if self.last >= self.today:
            return f"{count(self.length, 'day', 'days')} earlier"
        return "on the day before" if self.length == 1 else f"in {self.before}"

    def why_not(self) -> str:
        """What speaks against a comparison, regardless of the numbers; "" for nothing."""
        if self.whole is None:
            return "No comparison yet: today is not over." if self.first == self.today else "These days are to come."
        return "" if self.earlier else "There are no days before these."

    def sentence(self, amount: str, change: str, base: str) -> str:
        """`amount` of the whole days, the `change` ("8 % more than"), and what the days before had."""
        until = "" if self.last < self.today else "Until yesterday "
        return f"{until}{amount}, {change} {self.when} ({base})."


@dataclass(frozen=True, slots=True)
class Noun:
    """What is counted: `punch`, `punches`."""

    one: str
    several: str


def compare(pair: PeriodPair, by_day: Mapping[date, int], noun: Noun, *, unknown: str = "") -> str:
    """What the shown days came to against the days before; `by_day` holds both. `unknown` says why the days before are
    not known in full: then they are not compared."""
    counterparts, whole = pair.counterparts, pair.whole
    if counterparts is None or whole is None:
        return pair.why_not()
    if unknown:
        return not_known(pair, unknown)
    now, before = total(by_day, whole), total(by_day, counterparts)
    if not before:
        return f"No comparison: there are no {noun.several} {pair.when}."
    return pair.sentence(count(now, noun.one, noun.several), change(now, before), f"{before:,}")


def not_known(pair: PeriodPair, unknown: str) -> str:
    """The sentence in place of a comparison with days that are not known in full."""
    return f"No comparison with {pair.before}: {unknown}"


def total(by_day: Mapping[date, int], days: DayRange) -> int:
    first, last = days
    return sum(value for day, value in by_day.items() if first <= day <= last)


def change(now: int, before: int) -> str:
    """`8 % more than`, `5 fewer than`, `as many as`."""
    if now == before:
        return "as many as"
    way = "more than" if now > before else "fewer than"
    by = rounded(100 * Decimal(abs(now - before)) / before) if before else Decimal(0)
    if before < LEAST_BASE or by > MOST_PERCENT:
        return f"{abs(now - before):,} {way}"
    return f"{by} % {way}" if by else "about as many as"


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of the `whole`."""

    part: int
    whole: int


def compare_shares(pair: PeriodPair, now: Share, before: Share, noun: Noun, *, unknown: str = "") -> str:
    """The same of a rate over the whole days and over their counterparts."""
    if pair.counterparts is None:
        return pair.why_not()
    if unknown:
        return not_known(pair, unknown)
    rate, base = percent(now.part, now.whole), percent(before.part, before.whole)
    if rate is None or base is None or min(now.whole, before.whole) < LEAST_BASE:
        return f"No comparison: there are fewer than {LEAST_BASE} {noun.several}, in these days or {pair.when}."
    return pair.sentence(f"{rate} %", _points(rate - base), f"{base} %")


def _points(difference: Decimal) -> str:
    if not difference:
        return "the same as"
    return f"{abs(difference)} percentage points {'more' if difference > 0 else 'less'} than"


def signed(now: int, before: int) -> str:
    """A change for the cell of a table: `+8 %`, `−5`, `0`; a dash where nothing was before."""
    if not before:
        return "–"
    by = rounded(100 * Decimal(now - before) / before)
    if before < LEAST_BASE or abs(by) > MOST_PERCENT:
        return _with_sign(now - before)
    return f"{_with_sign(int(by))} %"


def _with_sign(number: int) -> str:
    return f"+{number:,}" if number > 0 else f"−{-number:,}" if number else "0"
