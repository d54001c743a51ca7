"""The fields of the module settings, by section, with what each one does. Bounds and reading are app.clock.settings',
the drawings beside the import rules rule_drawings'."""

from dataclasses import dataclass
from typing import Any

from app.clock.importing import preview
from app.clock.settings import BOUNDS, SHORTEST_RETENTION_DAYS, ClockSettings
from app.web.fields import Choice, DayField, Field, Flag, Number
from app.web.forms import Form

DIRECTIONS = {
    "by_code": "By the punch code",
    "in": "Always in",
    "out": "Always out",
    "undirected": "Undirected: in and out by turns",
}


def _number(name: str, label: str, unit: str, text: str) -> Number:
    least, most = BOUNDS[name]
    return Number(name, label, required=True, help=text, least=least, most=most, unit=unit)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that is saved by itself. `key` is its anchor and the last part of its address."""

    key: str
    title: str
    text: str
    fields: tuple[Field, ...]

    @property
    def form(self) -> Form:
        return Form(*self.fields)


_SECTIONS = (
    Section(
        "schedule",
        "Schedule",
        "When Muster asks the server by itself, and how far back it reads.",
        (
            _number("sync_interval_minutes", "A run every", "minutes", "0 = only by hand."),
            DayField(
                "history_start",
                "Read history from",
                required=True,
                help="A local date. An earlier date reads older days, oldest first. A later date deletes nothing.",
            ),
        ),
    ),
    Section(
        "budget",
        "Budget of a run",
        "A run that uses it up ends with TC-TRUNCATED. The next run continues from the same place.",
        (
            _number("run_budget_seconds", "Time", "seconds", ""),
            _number("run_budget_calls", "Calls", "calls", "Every attempt counts, sign-ins included."),
            _number("page_size", "Rows asked for in a page", "rows", "Some servers give fewer. That is not an error."),
        ),
    ),
    Section(
        "rules",
        "Import rules",
        f"How punches become attendance. Before a change is saved, you see what it would do to the last {preview.DAYS} days.",
        (
            _number(
                "repeat_tap_seconds",
                "Repeat tap within",
                "seconds",
                "A second punch within this time is the same punch, read twice. It does not count. 0 = off.",
            ),
            Flag(
                "double_tap_fix",
                "Fold double taps",
                help="A person often punches again when the reader gave no sign. The second punch of the same kind does not count.",
            ),
            _number(
                "double_tap_minutes",
                "Double tap within",
                "minutes",
                "How much later such a second punch may come. It is used only while double taps are folded.",
            ),
            _number(
                "shift_gap_hours",
                "Undirected: a shift is over after",
                "hours",
                "After so long without a punch the shift has ended, and the next punch begins another.",
            ),
            _number(
                "undirected_min_minutes",
                "Undirected: shortest shift",
                "minutes",
                "A punch so soon after the first one does not end the shift.",
            ),
            _number(
                "undirected_max_hours",
                "Undirected: longest shift",
                "hours",
                "A punch later than that begins a new shift.",
            ),
            Choice(
                "default_direction",
                "Default direction of a terminal",
                required=True,
                options=DIRECTIONS,
                help="What a punch means at a terminal for which nothing is set on the Devices page.",
            ),
            Flag(
                "import_single_punches",
                "Import single punches",
                help="A clock-in without a clock-out becomes an open record. A later clock-out completes it.",
            ),
            Flag(
                "ignore_leading_zeros",
                "Ignore leading zeros when matching",
                help="The code 00042 then matches the ID number 42. It is used by the next match pass.",
            ),
        ),
    ),
    Section(
        "display",
        "Display",
        "Decides pages, exports and the API alike.",
        (
            Flag(
                "show_photos", "Show photographs", help="Fetched through Muster when a page shows them; never stored."
            ),
            Flag("show_temperature", "Show temperatures"),
        ),
    ),
    Section(
        "retention",
        "Retention",
        "Daily totals are always kept. A punch that still waits is never removed.",
        (
            _number(
                "retain_transactions_days",
                "Keep punches",
                "days",
                f"0 = keep forever; otherwise at least {SHORTEST_RETENTION_DAYS}.",
            ),
            _number(
                "retain_api_logs_days",
                "Keep API logs",
                "days",
                "Rows that were set aside, and successful runs of the schedule, are removed with them.",
            ),
        ),
    ),
    Section(
        "warnings",
        "Warnings",
        "What the Dashboard warns of.",
        (
            _number("silence_hours", "No punch for", "hours", "Of working days; weekends do not count."),
            _number("skew_warn_seconds", "A terminal's clock is off by", "seconds", ""),
        ),
    ),
)
SECTIONS = {one.key: one for one in _SECTIONS}
# Where Help says more: page and anchor. Display says all there is to say.
ABOUT = {
    "sync_interval_minutes": "clock-servers#how-punches-are-read",
    "history_start": "clock-servers#how-punches-are-read",
    "run_budget_seconds": "clock-servers#limits",
    "run_budget_calls": "clock-servers#limits",
    "page_size": "clock-servers#profiles",
    "repeat_tap_seconds": "rules#repeat-tap",
    "double_tap_fix": "rules#double-tap",
    "double_tap_minutes": "rules#double-tap",
    "shift_gap_hours": "rules#undirected-terminals",
    "undirected_min_minutes": "rules#undirected-terminals",
    "undirected_max_hours": "rules#undirected-terminals",
    "default_direction": "rules#direction-and-role",
    "import_single_punches": "rules#only-one-punch",
    "ignore_leading_zeros": "glossary#auto-matched",
    "retain_transactions_days": "operate#keep-it-running",
    "retain_api_logs_days": "operate#keep-it-running",
    "silence_hours": "clock-servers#habits-of-real-servers",
    "skew_warn_seconds": "clock-servers#habits-of-real-servers",
}
FORM = Form(*(field for section in _SECTIONS for field in section.fields))
FLAGS = tuple(name for name, field in FORM.fields.items() if field.kind == "flag")


def shown(settings: ClockSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in FORM.fields}
