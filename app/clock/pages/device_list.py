"""The list of terminals: columns, filters, and for each row its punches of the last days, in three SELECTs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Date, Integer, Select, and_, cast, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from app.clock.figures.terminal_backlog import MIRRORED, backlog
from app.clock.mirror.devices import DIRECTIONS, KIND, KINDS, REMOTE_KIND
from app.clock.models import Area, Connection, DailyTotal, Device, Setting
from app.clock.punches import changes
from app.clock.punches.changes import UnderWay
from app.clock.settings import ClockSettings
from app.clock.zone_words import zone_words
from app.db.searching import contains
from app.web import lists
from app.web.context import Context
from app.web.formats import number
from app.web.list_page import ListPage
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec
from app.web.templating import with_query

DAYS = 14
STATES = {"online": "Online", "offline": "Offline", "unknown": "Unknown"}
_NAMES = ("default_direction", "skew_warn_seconds")
SKEW = "How far the terminal's clock is off, from when its recent punches arrived"
ZONE = "The time zone that the server keeps for the terminal. No punch depends on it"
THERE = "Punches that the server counts for this terminal"
BACKLOG = "Punches that the server counts and that are not here: still to come, or older than the history start"
SEARCH = contains(Device.alias, Device.sn, Device.ip_address, Device.remarks)
AREA = func.coalesce(Area.name, Device.area_code)
NOT_CONNECTED = Empty(
    "plug-connected-x",
    "No time clock is connected yet",
    "Terminals appear here once a server is connected and the first sync has run.",
    "/clock_settings",
    "Connect a server",
)
NOTHING_YET = Empty(
    "devices",
    "No terminals yet",
    "A sync reads them from the time clock. Start one in the Sync Center, which also shows its progress.",
    "/clock_sync",
    "Open the Sync Center",
)


@dataclass(frozen=True, slots=True)
class BulkAct:
    """What is set on many terminals: `direction` or `kind`, to `value`;
    None leaves it to the settings or the server."""

    what: str
    value: str | None

    @property
    def key(self) -> str:
        return f"{self.what}_{self.value or 'default'}"


WORDS = {"direction": DIRECTIONS, "kind": KINDS}
ACTS = {act.key: act for act in (BulkAct(what, value) for what, words in WORDS.items() for value in (*words, None))}


@dataclass(frozen=True, slots=True)
class DeviceListFrame:
    """What a request needs to know before it reads a terminal; one SELECT."""

    zone: str
    today: date
    default_direction: str
    skew_warn_seconds: int
    connected: bool
    areas: dict[str, str]
    rejudged: list[UnderWay]

    @property
    def first(self) -> date:
        return self.today - timedelta(days=DAYS - 1)


async def frame(ctx: Context, now: datetime | None = None) -> DeviceListFrame:
    stored = (
        select(func.jsonb_object_agg(Setting.name, Setting.value)).where(Setting.name.in_(_NAMES)).scalar_subquery()
    )
    areas = select(func.jsonb_object_agg(Area.code, Area.name)).scalar_subquery()
    zone = select(Connection.timezone).scalar_subquery()
    row = (await ctx.db.execute(select(zone, stored, areas, changes.TOLD))).one()
    ctx.tell_times_in(row[0] or "UTC")
    settings = ClockSettings(date.min, **(row[1] or {}))
    today = (now or datetime.now(UTC)).astimezone(ZoneInfo(row[0] or "UTC")).date()
    names = dict(sorted((row[2] or {}).items(), key=lambda pair: pair[1].casefold()))
    return DeviceListFrame(
        row[0] or "UTC",
        today,
        settings.default_direction,
        settings.skew_warn_seconds,
        connected=row[0] is not None,
        areas=names,
        rejudged=changes.told(row[3]),
    )


def base(framed: DeviceListFrame) -> Select[Any]:
    """Terminals with their area, effective kind and direction, mirrored punches and daily counts, oldest day first."""
    return select(
        *Device.__table__.c,
        AREA.label("area"),
        KIND.label("kind"),
        REMOTE_KIND.label("remote_kind"),
        func.coalesce(Device.direction, framed.default_direction).label("effective_direction"),
        MIRRORED.label("mirrored"),
        daily(framed.first, framed.today).label("days"),
    ).outerjoin(Area, Area.code == Device.area_code)


async def load(ctx: Context, framed: DeviceListFrame) -> ListPage:
    """One page: one SELECT for the total, one for the rows. Only the rows of the page are counted up."""
    spec = spec_of(framed, may_act=ctx.may("clock.devices.edit"))
    wanted = lists.asked(spec, ctx.request.query_params)
    known = select(Device.id).outerjoin(Area, Area.code == Device.area_code).where(lists.condition(spec, wanted))
    total = await ctx.db.scalar(select(func.count()).select_from(known.subquery())) or 0
    wanted.stay_within(total)
    order = lists.ordering(spec, wanted.sort)
    ids = wanted.cut(known.order_by(*order))
    rows = await ctx.db.execute(base(framed).where(Device.id.in_(ids)).order_by(*order))
    return lists.listing(ctx, spec, wanted, rows.all(), total)


def daily(first: date, last: date) -> Any:
    """Punches of each local day as an array, zeros included."""
    series = func.generate_series(first, last, timedelta(days=1)).table_valued("day").render_derived(name="series")
    day = cast(series.c.day, Date)
    kept = and_(DailyTotal.local_date == day, DailyTotal.dimension == "terminal", DailyTotal.key == Device.sn)
    total = select(DailyTotal.total).where(kept).correlate_except(DailyTotal).scalar_subquery()
    return func.array(
        select(func.coalesce(total, 0)).select_from(series).order_by(day).scalar_subquery(), type_=ARRAY(Integer)
    )


def chosen(act: BulkAct) -> Select[Any]:
    """The terminals that are not set like this yet, for a bulk act to choose from."""
    set_to = Device.direction if act.what == "direction" else Device.kind_mark
    return select(Device.id).outerjoin(Area, Area.code == Device.area_code).where(set_to.is_distinct_from(act.value))


def columns() -> tuple[Column, ...]:
    return (
        Column("terminal", "Terminal", lambda row: row.alias or row.sn, func.coalesce(Device.alias, Device.sn)),
        Column("serial", "Serial number", lambda row: row.sn, Device.sn, shown=False),
        Column("area", "Area", lambda row: row.area, AREA),
        Column("state", "State", lambda row: row.state, Device.state),
        Column("direction", "Direction", lambda row: row.effective_direction),
        Column("kind", "Kind", lambda row: row.kind, KIND),
        Column("days", f"Last {DAYS} days", lambda row: row.days, hint="Punches of each day, oldest first; below, the number that a full bar stands for"),
        Column("skew", "Clock", lambda row: row.clock_skew_seconds, func.abs(Device.clock_skew_seconds), hint=SKEW),
        Column("time_zone", "Time zone", lambda row: zone_words(row.terminal_tz), Device.terminal_tz, shown=False, hint=ZONE),
        Column("last_activity", "Last activity", lambda row: row.last_activity_at, Device.last_activity_at, shown=False),
        Column("last_punch", "Last punch", lambda row: row.last_punch_at_utc, Device.last_punch_at_utc),
        Column("users", "Users", lambda row: row.user_count, Device.user_count, shown=False, numeric=True),
        Column("fingerprints", "Fingerprints", lambda row: row.fingerprint_count, Device.fingerprint_count, shown=False, numeric=True),
        Column("faces", "Faces", lambda row: row.face_count, Device.face_count, shown=False, numeric=True),
        Column("palms", "Palms", lambda row: row.palm_count, Device.palm_count, shown=False, numeric=True),
        Column("transactions", "Punches there", lambda row: row.transaction_count, Device.transaction_count, shown=False, numeric=True, hint=THERE),
        Column("backlog", "Backlog", backlog, numeric=True, hint=BACKLOG),
        Column("remarks", "Remarks", lambda row: row.remarks),
        Column("ip_address", "IP address", lambda row: row.ip_address, Device.ip_address, shown=False),
        Column("firmware", "Firmware", lambda row: row.firmware, Device.firmware, shown=False),
    )  # fmt: skip


def days_url(framed: DeviceListFrame, serial: str) -> str:
    """The punches behind the bars of a row."""
    shown = {"terminal": serial, "from": framed.first.isoformat(), "to": framed.today.isoformat()}
    return with_query("/clock_transactions", shown)


def days_words(days: Sequence[int]) -> str:
    return f"{number(sum(days))} punches in {len(days)} days, at most {number(max(days))} a day"


def bulk(framed: DeviceListFrame) -> tuple[BulkAction, ...]:
    """One menu sets the direction, another the kind."""
    default = {"direction": f"{DIRECTIONS[framed.default_direction]} (default)", "kind": "What the server says"}
    icons = {"direction": "route", "kind": "tag"}
    return tuple(
        BulkAction(
            word,
            WORDS[act.what].get(act.value or "", default[act.what]),
            icons[act.what],
            menu=act.what.capitalize(),
        )
        for word, act in ACTS.items()
    )


def spec_of(framed: DeviceListFrame, *, may_act: bool = False) -> ListSpec:
    direction = func.coalesce(Device.direction, framed.default_direction)
    off = func.abs(Device.clock_skew_seconds) > framed.skew_warn_seconds
    return ListSpec(
        name="devices",
        label="terminals",
        url="/clock_devices",
        columns=columns(),
        filters=(
            Filter("q", "Search", SEARCH, placeholder="Name, serial number, address"),
            Filter("state", "State", lambda word: Device.state == word, kind="select", options=STATES),
            Filter("area", "Area", lambda code: Device.area_code == code, kind="select", options=framed.areas),
            Filter("kind", "Kind", lambda word: word == KIND, kind="select", options=KINDS),
            Filter(
                "direction", "Direction", lambda word: direction == word, kind="select", options=DIRECTIONS, advanced=True
            ),
            Filter("serial", "Serial number, exactly", lambda sn: Device.sn == sn, advanced=True, verbatim=True),
            Filter("skew", "Clock is off", lambda _: off, kind="check", advanced=True),
            Filter("absent", "Gone from the server", lambda _: Device.absent_since.is_not(None), kind="check", advanced=True),
        ),
        key=Device.id,
        sort="terminal",
        empty=NOTHING_YET if framed.connected else NOT_CONNECTED,
        bulk_url="/clock_devices/bulk",
        bulk=bulk(framed) if may_act else (),
    )  # fmt: skip
