"""Sample data in the shapes that the component files document. Page authors: these are the shapes to send."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from app.charts import bars, columns, plot, small
from app.charts.bars import BarHeads, BarRow, StatePart
from app.charts.columns import DayColumn, Series
from app.charts.plot import PlotDay
from app.charts.small import HeatCell, HeatRow
from app.counting import percent
from app.web.menu import counted

FIRST = date(2026, 2, 2)
NOW = datetime(2026, 11, 21, 8, tzinfo=UTC)
LONG = "Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh von und zu Unaussprechlich"
STATES = (
    "bound", "auto_matched", "suggested", "unbound", "not_found", "conflict", "missing_remote", "ignored", "disabled",
)  # fmt: skip
COUNTS = (1182, 96, 41, 12, 33, 5, 18, 7, 3)
NAMES = (
    "Ana Horvat",
    "Björk Guðmundsdóttir",
    "Chidi Okonkwo",
    LONG,
    "Đorđe Šarić",
    "李小龍",
    "O'Neill <b>Sam</b>",
    "Zoë",
)


def option(value: str, label: str | None = None) -> dict[str, str]:
    return {"value": value, "label": label or value.replace("_", " ").capitalize()}


@dataclass
class View:
    """What `lists.frame` reads; the portal's own view has the same attributes."""

    id: str = "employees"
    label: str = "employees"
    url: str = "/list"
    query: dict[str, str] = field(default_factory=dict)
    filters: list[dict[str, Any]] = field(default_factory=list)
    chips: list[dict[str, str]] = field(default_factory=list)
    clear_url: str = "/list"
    columns: list[dict[str, Any]] = field(default_factory=list)
    visible: set[str] = field(default_factory=set)
    columns_url: str | None = "/columns"
    sort: str = "-waiting"
    shown: int = 50
    total: int = 1397
    page: int = 3
    pages: int = 28
    per_page: int = 50
    per_pages: tuple[int, ...] = (25, 50, 100, 200)
    exports: tuple[dict[str, str], ...] = (
        {"label": "CSV", "url": "/list?export=csv"},
        {"label": "JSON Lines", "url": "/list?export=jsonl"},
    )
    bulk: dict[str, Any] | None = None
    empty: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> str:
        return self.link()

    def link(self, **changes: object) -> str:
        given = {**self.query, "sort": self.sort, "per_page": self.per_page, **changes}
        return f"{self.url}?{urlencode({k: v for k, v in given.items() if v is not None})}"


COLUMNS = [
    {"key": "code", "label": "Code", "sort": "code", "numeric": False, "hint": ""},
    {"key": "name", "label": "Name", "sort": "name", "numeric": False, "hint": ""},
    {"key": "department", "label": "Department", "sort": "department", "numeric": False, "hint": ""},
    {"key": "enrolled", "label": "Enrolled", "sort": None, "numeric": False, "hint": "Biometrics on the terminals"},
    {"key": "state", "label": "Binding", "sort": "state", "numeric": False, "hint": ""},
    {"key": "host", "label": "Host employee", "sort": None, "numeric": False, "hint": ""},
    {"key": "waiting", "label": "Waiting", "sort": "waiting", "numeric": True, "hint": "Punches not imported yet"},
    {"key": "last", "label": "Last punch", "sort": "last", "numeric": False, "hint": ""},
    {"key": "actions", "label": "", "sort": None, "numeric": False, "hint": ""},
]
FILTERS = [
    {"kind": "text", "name": "q", "label": "Code or name", "value": "", "placeholder": "Code or name"},
    {"kind": "multi", "name": "state", "label": "Binding", "value": {"conflict"}, "options": [option(s) for s in STATES]},
    {"kind": "select", "name": "dept", "label": "Department", "value": "", "options": [option("1", "Assembly"), option("2", LONG)]},
    {"kind": "range", "name_from": "from", "name_to": "to", "label": "Last punch", "value_from": "2026-11-01", "value_to": None},
    {"kind": "check", "name": "absent", "label": "Absent too", "value": False},
    {"kind": "select", "name": "area", "label": "Area", "value": "", "options": [option("hq", "HQ")], "advanced": True},
    {"kind": "text", "name": "remark", "label": "Remarks", "value": "", "advanced": True},
]  # fmt: skip
BULK = {
    "url": "/bulk?state=conflict",
    "actions": [
        {"value": "accept", "label": "Accept", "icon": "check"},
        {"value": "ignore", "label": "Ignore", "icon": "eye-off", "danger": True},
        {"value": "site_hq", "label": "HQ", "icon": "location", "menu": "Site"},
        {"value": "site_mill", "label": "Mill", "icon": "location", "menu": "Site"},
    ],
}
EMPTY = {
    "icon": "users",
    "title": "No employees mirrored yet",
    "text": "Employees arrive with the first sync of the connection.",
    "url": "/clock_sync",
    "action": "Open Sync Center",
}


def view(**changes: Any) -> View:
    shown = {
        "columns": COLUMNS,
        "visible": {c["key"] for c in COLUMNS},
        "filters": FILTERS,
        "bulk": BULK,
        "empty": EMPTY,
    }
    chips = [
        {"label": "Binding", "value": "Conflict", "url": "/list"},
        {"label": "Last punch from", "value": "1 Nov 2026", "url": "/list"},
    ]
    return View(**{**shown, "chips": chips, **changes})


def rows() -> list[dict[str, Any]]:
    return [
        {
            "id": n,
            "code": f"{1000 + n}",
            "name": NAMES[n % len(NAMES)],
            "department": (None, "Assembly", LONG)[n % 3],
            "state": STATES[n % 9],
            "state_label": STATES[n % 9].replace("_", " ").capitalize(),
            "host": NAMES[n % len(NAMES)] if n % 9 in (0, 1, 6) else None,
            "waiting": (n * 37) % 211,
            "last": {
                "iso": "2026-11-20T16:02:11Z",
                "text": "Fri 20 Nov, 17:02",
                "title": "2026-11-20 17:02:11 Europe/Zagreb · 2026-11-20 16:02:11 UTC",
            },
        }
        for n in range(24)
    ]


STATE_BAR = bars.state_bar(
    [
        StatePart(s.replace("_", " ").capitalize(), c, f"/list?state={s}", s)
        for s, c in zip(STATES, COUNTS, strict=True)
    ],
    title="Employees by binding state",
    unit="people",
)
NO_STATES = bars.state_bar([], title="Nothing yet", unit="people")
SERIES = [
    Series("Imported", "ok"), Series("Folded", "mute"), Series("Waiting", "info"),
    Series("Needs a person", "warn"), Series("Broken", "bad"),
]  # fmt: skip
DAYS = columns.day_columns(
    [
        DayColumn(
            name=f"2026-11-{7 + n:02}",
            label=str(7 + n),
            sub=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][(n + 5) % 7],
            url=f"/list?from=2026-11-{7 + n:02}",
            title=f"{7 + n} November: {800 + n} punches",
            values=(700 + 31 * (n % 5), 40, 12 * (n == 13) * 20, 9 + n, n % 3) if (n + 5) % 7 < 5 else (0, 0, 0, 0, 0),
        )
        for n in range(14)
    ],
    SERIES,
    title="Punches of the last 14 days by outcome group",
    unit="Punches a day",
)
MONTH = columns.day_columns(
    [
        DayColumn(f"2026-10-{n:02}", f"{n:02}", "Oct" if n == 1 else "", "/list", f"{n} October", (n * 7 % 31,), 40 - n)
        for n in range(1, 31)
    ],
    SERIES[:1],
    title="Responses of the last 30 days by outcome",
    unit="Responses a day",
    said="Until yesterday 440 responses, 5 % fewer than 30 days earlier (463).",
)
PLOTS = [
    plot.stacked(
        [
            PlotDay(FIRST + timedelta(days=n), f"day {n}", (700 + 31 * (n % 5), 40, 12, 9 + n, n % 3), 800 - n)
            for n in range(length)
        ],
        SERIES,
        title=f"Punches per day, {length} days",
        unit="Punches a day",
        said="1,204 punches, 8 % more than in the 14 days before (1,115).",
    )
    for length in (1, 14, 92, 366)
] + [
    plot.rates(
        [
            PlotDay(FIRST + timedelta(days=n), f"day {n}", (None if n % 11 == 5 else 90 - n % 7,), 80 + n % 5)
            for n in range(30)
        ],
        Series("In attendance records", "ok"),
        title="Import rate",
        unit="Share of a day's punches",
    )
]
TERMINALS = bars.ranking(
    [
        BarRow(
            name, 900 - 200 * n, url="/list", before=850, cells=(f"{880 - 200 * n}", "97.8 %", ("+8 %", "−12")[n % 2])
        )
        for n, name in enumerate(("Main gate", LONG, "Yard"))
    ],
    BarHeads("Terminal", "Punches", ("In records", "Share", "Change")),
    title="Punches by terminal",
    said="Change: punches until yesterday against those 30 days earlier.",
    earlier="30 days earlier",
)
OUTCOMES = bars.ranking(
    [
        BarRow("Only one punch", 31, url="/list", tone="warn"),
        BarRow("Arrived after import", 18, url="/list", tone="warn"),
        BarRow(LONG, 12, url="/list", tone="bad"),
    ],
    BarHeads("Outcome", "Punches"),
    title="Outcomes that need a person",
)
STARS = bars.distribution(
    [BarRow(f"{star} ★", n, percent(n, 190), "/list", "warn") for star, n in ((5, 94), (4, 60), (3, 36), (2, 0))],
    BarHeads("Stars", "People"),
    title="Stars of the canteen",
)
WEEK = small.heat_map(
    [
        HeatRow(
            day,
            tuple(
                HeatCell(max(0, 120 - 14 * abs(hour - 7) if d < 5 else 6 - abs(hour - 10)), f"{day} {hour}:00")
                for hour in range(24)
            ),
        )
        for d, day in enumerate(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
    ],
    [str(hour) for hour in range(24)],
    title="Punches by hour of the week",
    unit="punches",
)


def tap(
    at: tuple[float, int], time: str, role: str, effect: str, label: str, *, current: bool = False
) -> dict[str, Any]:
    x, lane = at
    y = (60, 37, 15)[lane]
    return {"x": f"{x}%", "y": y, "stem": (y + 11, 49) if lane else None, "time": time, "title": f"{time} · 07:02 UTC · Europe/Zagreb (+01:00)", "role": role, "effect": effect,
            "effect_label": label, "current": current, "url": "/why", "terminal": "Gate 2 (CJDE201960123)"}  # fmt: skip


LINE = {
    "label": "Taps of 20 November",
    "taps": [
        tap((12, 0), "08:01:03", "Clock in", "opens", "opens the shift"),
        tap((12.4, 1), "08:01:07", "Clock in", "folded", "folded into tap 1: a repeat within 10 s"),
        tap((15, 2), "08:04:40", "Clock in", "folded", "folded into tap 1: a double tap within 5 min", current=True),
        tap((42, 0), "12:00:12", "Break out", "break", "starts a break"),
        tap((45.5, 1), "12:31:00", "Break in", "break", "ends the break"),
        tap((60, 0), "14:10:00", "Clock out", "inside", "inside, without effect"),
        tap((80.5, 0), "17:02:11", "Clock out", "closes", "closes the shift"),
        tap((96, 0), "21:40:00", "Clock in", "waiting", "waits: the shift is not closed"),
        tap((98.5, 1), "22:10:00", "Break in", "orphan", "has no shift to belong to"),
    ],
    "records": [
        {
            "x": "12%",
            "width": "68.5%",
            "open": False,
            "label": "Record 4711, regular, 08:01 – 17:02, pending",
            "status": "pending",
            "url": "/attendance/4711",
        },
        {
            "x": "96%",
            "width": "4%",
            "open": True,
            "label": "Record 4712, regular, from 21:40, open",
            "status": "auto_closed",
            "url": None,
        },
    ],
    "breaks": [{"x": "42%", "width": "3.5%", "label": "Break 12:00 – 12:31"}],
    "axis": [
        {
            "x": f"{n * 12.5}%",
            "anchor": {0: "start", 8: "end"}.get(n, "middle"),
            "odd": n % 2,
            "label": f"{6 + n * 2:02}:00",
        }
        for n in range(9)
    ],
    "now_x": "99%",
}
MENU = [
    {"label": "Clock", "icon": "clock", "items": [
        {"label": label, "url": url, "icon": name, "active": False, "count": counted(url, waits) if waits else None}
        for label, url, name, waits in (
            ("Dashboard", "/", "layout-dashboard", None), ("Employees & Bindings", "/list", "users", 38),
            ("Attendance Transactions", "/visuals", "fingerprint", None), ("Devices", "/forms", "devices", None),
            ("Organization", "/empty", "sitemap", None), ("Sync Center", "/parts", "refresh", None),
            ("Analytics", "/charts", "chart-bar", None), ("API Logs", "/error", "api", None), ("Settings", "/forms-errors", "settings", None))]},
    {"label": "Surveys", "icon": "forms", "items": [
        {"label": label, "url": "#", "icon": name, "active": False, "count": None}
        for label, name in (("Overview", "chart-histogram"), ("Surveys", "clipboard-list"), ("Responses", "message"), ("Rating Details", "star"))]},
    {"label": "Host", "icon": "building", "items": [
        {"label": label, "url": "#", "icon": name, "active": False, "count": None}
        for label, name in (("People", "users-group"), ("Attendance", "calendar-event"), ("Kiosk", "id"), ("App Library", "apps"))]},
    {"label": "Administration", "icon": "shield", "items": [
        {"label": label, "url": "#", "icon": name, "active": False, "count": None}
        for label, name in (("Users", "user"), ("Roles", "shield-lock"), ("Tenants", "building-community"), ("Tokens", "key"), ("Policies", "adjustments"), ("Audit", "history"), ("Jobs", "list-check"))]},
]  # fmt: skip
PALETTE = [
    {
        "label": "Pages",
        "items": [{"url": "/list", "title": "Employees & Bindings", "hint": "Clock", "icon": "users", "posts": False}],
    },
    {
        "label": "Actions",
        "items": [{"url": "#", "title": "Start a sync", "hint": LONG, "icon": "player-play", "posts": True}],
    },
    {
        "label": "People",
        "items": [{"url": "#", "title": LONG, "hint": "1042 · Assembly", "icon": "user", "posts": False}],
    },
]
