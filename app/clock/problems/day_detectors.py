"""What is to be decided of a person's day; each fact is a problem. Pure."""

from collections.abc import Callable
from datetime import datetime

from app.clock.days import DAY, LIVE_DAYS
from app.clock.outcomes import Outcome
from app.clock.problems.person_days import AWAITING, day_of
from app.dates import day_words
from app.problems.findings import Fact, Finding

# What is wrong, of one punch and of several, and what a person does.
WORDS: dict[str, tuple[str, str, str]] = {
    Outcome.ONLY_ONE_PUNCH: (
        "one punch on {day}",
        "clock-in or clock-out is missing on {day}",
        "Add the record by hand, mark it as settled, or wait for a terminal that uploads late.",
    ),
    Outcome.OVERLAPS: (
        "a punch of {day} lies in another record",
        "punches of {day} lie in another record",
        "Change or delete that record, or mark the punches as settled.",
    ),
    Outcome.ARRIVED_LATE: (
        "a punch of {day} arrived after the import",
        "punches of {day} arrived after the import",
        "Use the punches, or keep the record.",
    ),
    Outcome.OVER_24H: (
        "a punch of {day} would make a shift of more than 24 hours",
        "punches of {day} would make a shift of more than 24 hours",
        "Add the record by hand, or mark the punches as settled.",
    ),
    Outcome.FUTURE_TIMESTAMP: (
        "a punch lies in the future, on {day}",
        "punches lie in the future, on {day}",
        "Set the clock of the terminal. If the punches are wrong, mark them as settled.",
    ),
    Outcome.EMPLOYEE_INACTIVE: (
        "punched on {day}, but is inactive",
        "punched on {day}, but is inactive",
        "Activate the person, or mark the punches as settled.",
    ),
    Outcome.ATTENDANCE_DELETED: (
        "the record of {day} was deleted",
        "the record of {day} was deleted",
        "Retry makes it again. Mark the punches as settled if it is to stay deleted.",
    ),
    AWAITING: (
        "a punch of {day} has been awaiting its judging for more than 48 hours",
        "punches of {day} have been awaiting their judging for more than 48 hours",
        "Earlier days may not be read yet: look in the Sync Center. Retry judges the punches again.",
    ),
}

# What a run reads of days before is history: problems of such a day are told as a sum.
LATE = LIVE_DAYS * DAY


def of_day(kind: str) -> Callable[[Fact, datetime], Finding]:
    one, several, advice = WORDS[kind]

    def detect(fact: Fact, now: datetime) -> Finding:
        what = one if fact.held_punches == 1 else several
        day = day_of(fact.subject_id)
        title = f"{fact.facts['name']}: {what.format(day=day_words(day, now.date()))}"
        return fact.found(title, advice, quiet=now.date() - day > LATE)

    return detect
