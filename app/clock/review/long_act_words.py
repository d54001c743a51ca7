"""What the clock's acts on named records and punches are called."""

from app.clock.bindings import undoing
from app.clock.review import using_many
from app.long_acts.progress import Progress
from app.long_acts.words import LongActView, LongActWords

KINDS = {
    "take_back": LongActWords(
        "/clock_employees/acts", "Taking back records", "taken back", "record", "records", undoing.LEFT
    ),
    "move": LongActWords("/clock_employees/acts", "Moving records", "moved", "record", "records", undoing.LEFT),
    "use": LongActWords("/clock_transactions/acts", "Using punches", "used", "punch", "punches", using_many.LEFT),
}


def told(progress: Progress) -> LongActView:
    return LongActView(progress, KINDS[progress.kind])
