"""How an answer speaks: texts, counts, days and numbers in one language."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache, lru_cache

from babel.dates import format_skeleton, format_timedelta, get_datetime_format
from babel.lists import format_list
from babel.numbers import format_decimal

from app import languages
from app.dates import PageZone, there
from app.languages import ENGLISH, TAGS
from app.wording.catalogues import catalogue
from app.wording.marked import Numeral, Sentence, Shown


@dataclass(frozen=True, slots=True)
class Speech:
    """One of the languages of app.languages. `tag` and `direction` are for the attributes `lang` and `dir`."""

    tag: str

    @property
    def direction(self) -> str:
        return languages.direction(self.tag)

    @property
    def is_english(self) -> bool:
        return self.tag == ENGLISH

    def __call__(self, text: str) -> str:
        """A marked text in this language; one that is not in the catalogue, such as an author's own words,
        stays as it is."""
        if isinstance(text, Sentence):
            return str(text) if self.is_english else self._composed(text)
        return text if self.is_english or not text else catalogue(self.tag).gettext(text)

    def _composed(self, text: Sentence) -> str:
        found = catalogue(self.tag).gettext(text.template)
        shown = {name: self._shown(value) for name, value in text.values.items()}
        return found.format(**shown) if shown else found

    def count(self, one: str, many: str, number: int) -> str:
        return catalogue(self.tag).ngettext(one, many, number)

    def figure(self, text: str) -> str:
        """A number that is written as programs do, with the decimal sign of the language."""
        if self.is_english:
            return text
        return format_decimal(Decimal(text), locale=self.tag, group_separator=False, decimal_quantization=False)

    def in_utc(self, instant: datetime) -> str:
        """With the year, for a mail: `25 November 2026, 12:00 UTC`."""
        there = instant.astimezone(UTC)
        if self.is_english:
            return f"{there:%-d} {there:%B} {there:%Y, %H:%M} UTC"
        day = format_skeleton("yMMMMd", there.date(), locale=self.tag)
        return f"{_glued(self.tag, day, there)} UTC"

    def ago(self, instant: datetime, now: datetime) -> str:
        """How long before `now`, or after, in words."""
        return format_timedelta(instant - now, add_direction=True, locale=self.tag)

    def zone(self, zone: PageZone) -> PageZone:
        return zone if self.is_english else SpokenZone(zone.info, zone.today, self.tag)

    def _shown(self, value: Shown) -> str:
        if isinstance(value, tuple):
            return format_list(value, "or", locale=self.tag)
        if isinstance(value, Sentence):
            return self(value)
        return self.figure(value) if isinstance(value, Numeral) else str(value)


@dataclass(frozen=True, slots=True)
class SpokenZone(PageZone):
    """Tells what the pages of the people who are asked show: a day, a time, and a time in UTC."""

    tag: str

    def time(self, instant: datetime) -> str:
        return self._timed(there(instant, self.info))

    def in_utc(self, instant: datetime) -> str:
        return f"{self._timed(instant.astimezone(UTC))} UTC"

    def day(self, day: date) -> str:
        return day_in(self.tag, there(day, self.info).date() if isinstance(day, datetime) else day, self.today)

    def _timed(self, local: datetime) -> str:
        return _glued(self.tag, day_in(self.tag, local.date(), self.today), local)


def _glued(tag: str, day: str, time: datetime) -> str:
    return _glue(tag).replace("{1}", day).replace("{0}", f"{time:%H:%M}")


@cache
def _glue(tag: str) -> str:
    """How day `{1}` and time `{0}` stand beside each other."""
    return str(get_datetime_format("medium", locale=tag))


# A list tells the same few days again and again.
@lru_cache(maxsize=4096)
def day_in(tag: str, day: date, today: date | None) -> str:
    """`So., 22. Nov.`; the year where it is another one, or where no `today` is given."""
    is_this_year = today is not None and day.year == today.year
    return format_skeleton("MMMEd" if is_this_year else "yMMMEd", day, locale=tag)


ENGLISH_SPEECH = Speech(ENGLISH)
_current: ContextVar[Speech] = ContextVar("speech", default=ENGLISH_SPEECH)


@cache
def speech_in(tag: str) -> Speech:
    return Speech(tag)


def speech_for(wanted: Iterable[str]) -> Speech:
    """The best that Muster speaks of these tags; English where it speaks none of them."""
    return speech_in(languages.best(TAGS, wanted, ENGLISH))


def spoken() -> Speech:
    """How the part that is being drawn speaks."""
    return _current.get()


@contextmanager
def speaking(speech: Speech) -> Iterator[None]:
    """All that is drawn meanwhile speaks so."""
    before = _current.set(speech)
    try:
        yield
    finally:
        _current.reset(before)


def said(text: str) -> str:
    return spoken()(text)


def counted(one: str, many: str, number: int) -> str:
    return spoken().count(one, many, number)
