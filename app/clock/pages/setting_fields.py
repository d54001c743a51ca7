"""The fields of the module settings, by section, with what each one does. Bounds and reading are app.clock.settings'."""

from typing import Any

from app.clock.importing import preview
from app.clock.settings import BOUNDS, SHORTEST_RETENTION_DAYS, ClockSettings
from app.web.forms import Choice, DayField, Field, Flag, Form, Number

DIRECTIONS = {
    "by_code": "By the punch code",
    "in": "Always in",
    "out": "Always out",
    "undirected": "Undirected: in and out by turns",
}


def _number(name: str, label: str, unit: str, text: str) -> Number:
    least, most = BOUNDS[name]
    return Number(name, label, required=True, help=text, least=least, most=most, unit=unit)


SECTIONS: tuple[tuple[str, str, tuple[Field, ...]], ...] = (
    (
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
    (
        "Budget of a run",
        "A run that uses it up ends with TC-TRUNCATED. The next run continues from the same place.",
        (
            _number("run_budget_seconds", "Time", "seconds", ""),
            _number("run_budget_calls", "Calls", "calls", "Every attempt counts, sign-ins included."),
            _number("page_size", "Rows asked for in a page", "rows", "Some servers give fewer. That is not an error."),
        ),
    ),
    (
        "Import rules",
        f"How punches become attendance. Before a change is saved, you see what it would do to the last {preview.DAYS} days.",
        (
            _number(
                "repeat_tap_seconds",
                "Repeat tap within",
                "seconds",
                "The reader fired twice: the second punch is folded. 0 = never.",
            ),
            Flag(
                "double_tap_fix",
                "Fold double taps",
                help="The person punched again minutes later: the second punch is folded.",
            ),
            _number("double_tap_minutes", "Double tap within", "minutes", "Used only while the fix is on."),
            _number(
                "shift_gap_hours",
                "Undirected: a shift is over after",
                "hours",
                "After this long without a punch, a shift that can end has ended.",
            ),
            _number(
                "undirected_min_minutes",
                "Undirected: shortest shift",
                "minutes",
                "A punch sooner after the first one does not end the shift.",
            ),
            _number("undirected_max_hours", "Undirected: longest shift", "hours", "A later punch starts a new shift."),
            Choice(
                "default_direction",
                "Default direction of a terminal",
                required=True,
                options=DIRECTIONS,
                help="Each terminal can be set on the Devices page.",
            ),
            Flag(
                "import_single_punches",
                "Import single punches",
                help="A shift with a clock-in and no clock-out becomes an open record, completed by a later clock-out.",
            ),
            Flag(
                "ignore_leading_zeros",
                "Ignore leading zeros when matching",
                help="The code 00042 then matches the ID number 42. It is used by the next match pass.",
            ),
        ),
    ),
    (
        "Display",
        "Decides pages, exports and the API alike.",
        (
            Flag(
                "show_photos", "Show photographs", help="Fetched through Muster when a page shows them; never stored."
            ),
            Flag("show_temperature", "Show temperatures"),
        ),
    ),
    (
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
    (
        "Warnings",
        "What the Dashboard warns of.",
        (
            _number("silence_hours", "No punch for", "hours", "Of working days; weekends do not count."),
            _number("skew_warn_seconds", "A terminal's clock is off by", "seconds", ""),
        ),
    ),
)
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
FORM = Form(*(field for _, _, fields in SECTIONS for field in fields))
FLAGS = tuple(name for name, field in FORM.fields.items() if field.kind == "flag")


def shown(settings: ClockSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in FORM.fields}
