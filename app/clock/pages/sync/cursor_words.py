"""How far each resource got, as the Sync Center shows it. Takes the rows of the cursors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from app.clock.days import CHECK_DAYS
from app.clock.mirror.cursors import CHECK, LIVE, PUNCHES
from app.clock.mirror.shortfalls import Shortfall
from app.clock.models import Cursor
from app.clock.pages.sync.run_words import RESOURCE_LABELS
from app.clock.profiles import RESOURCES

# The word that decides the colour, and what is shown.
LISTING_STATES = {
    "complete": ("succeeded", "Complete"),
    "open": ("running", "Not complete"),
    "refused": ("partial", "Not believed"),
}
KINDS = {"live": "Last days", "check": "Nightly check", "backfill": "History", "asked": "Asked for"}


@dataclass(frozen=True, slots=True)
class ResourceProgress:
    """One complete listing. `state` is open, complete or refused."""

    resource: str
    label: str
    state: str
    detail: str
    updated_at: datetime

    @property
    def badge(self) -> tuple[str, str]:
        return LISTING_STATES[self.state]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days of punches: `done` of `days` have been read; days is 0 where the stretch has no end.
    `short` is what did not come."""

    window: str
    kind: str
    label: str
    state: str
    first: date | None
    last: date | None
    done: int
    days: int
    emp_code: str | None
    detail: str
    updated_at: datetime
    short: Shortfall | None = None

    @property
    def badge(self) -> tuple[str, str]:
        if self.is_accepted:
            return "succeeded", "Accepted"
        return ("succeeded", "Complete") if self.state == "complete" else ("running", "Not complete")

    @property
    def is_accepted(self) -> bool:
        return self.short is not None and self.short.is_accepted

    @property
    def may_be_accepted(self) -> bool:
        return self.state == "open" and self.short is not None and self.short.may_be_accepted


def listings(rows: Sequence[Cursor]) -> list[ResourceProgress]:
    """In the order of a run."""
    found = {row.resource: row for row in rows if row.kind == "listing"}
    return [_listing(found[name]) for name in RESOURCES if name in found]


def _listing(row: Cursor) -> ResourceProgress:
    if row.note:
        detail = row.note
    elif row.state == "complete":
        detail = "The whole list was read."
    elif row.page:
        detail = f"Read to page {row.page:,}" + (f" of {row.total:,} rows." if row.total else ".")
    else:
        detail = "Not fully read yet."
    return ResourceProgress(row.resource, RESOURCE_LABELS[row.resource], row.state, detail, row.updated_at)


def stretches(rows: Sequence[Cursor]) -> list[Stretch]:
    """What is being read or is to be read, then what was asked for; history that is done is one stretch each."""
    order = list(KINDS)
    mine = [row for row in rows if row.resource == PUNCHES and row.kind in KINDS]
    found = [_stretch(row) for row in mine]
    return sorted(found, key=lambda one: (order.index(one.kind), one.state != "open", one.first or date.min))


def _stretch(row: Cursor) -> Stretch:
    days = (row.ends_on - row.starts_on).days + 1 if row.starts_on and row.ends_on else 0
    done = min(days, max(0, (row.done_until - row.starts_on).days)) if row.done_until and row.starts_on else 0
    if row.state == "complete":
        done = days
    detail = row.note or ""
    if row.window == LIVE and row.covered_until:
        detail = f"{detail} Complete at its last walk.".strip() if row.state == "complete" else detail
    elif row.window == CHECK:
        detail = detail or f"{row.page} of the last {CHECK_DAYS} days compared with the server's counts."
        return Stretch(
            CHECK, "check", KINDS["check"], row.state, row.ends_on, row.ends_on, 0, 0, None, detail, row.updated_at
        )
    return Stretch(
        row.window,
        row.kind,
        KINDS[row.kind],
        row.state,
        row.starts_on,
        row.ends_on,
        done,
        days,
        row.emp_code,
        detail,
        row.updated_at,
        Shortfall.of(row),
    )
