"""The settings of the clock module: names, defaults and bounds, reading and writing. No page here."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import audit, schedule_looks
from app.clock.codes import Direction
from app.clock.days import CHECK_DAYS, DAY, LIVE_DAYS
from app.clock.models import Connection, Setting
from app.clock.pairing import shifts
from app.clock.profiles import PROFILES
from app.clock.punches import marks
from app.clock.zones import local_today
from app.dates import day_words
from app.db.locks import hold_name
from app.db.session import workspace_of
from app.errors import FieldError, Invalid
from app.problems import looking
from app.texts import whole

HISTORY = timedelta(days=90)
# The nightly check counts the last days at the server. They must be kept, and as many again to spare.
SHORTEST_RETENTION_DAYS = 2 * CHECK_DAYS
EARLIEST = date(1990, 1, 1)


@dataclass(frozen=True, slots=True)
class ClockSettings:
    """Every setting with the value that holds. `history_start` is a local date of the connection's zone."""

    history_start: date
    sync_interval_minutes: int = 15
    run_budget_seconds: int = 600
    run_budget_calls: int = 2000
    page_size: int = 500
    repeat_tap_seconds: int = 10
    double_tap_fix: bool = True
    double_tap_minutes: int = 5
    shift_gap_hours: int = 8
    undirected_min_minutes: int = 30
    undirected_max_hours: int = 14
    default_direction: str = "by_code"
    import_single_punches: bool = False
    ignore_leading_zeros: bool = False
    show_photos: bool = False
    show_temperature: bool = False
    retain_transactions_days: int = 0
    retain_api_logs_days: int = 30
    silence_hours: int = 24
    skew_warn_seconds: int = 60

    def horizon(self, today: date) -> date:
        """The first local day that a sync reads: neither before the history nor behind what the purge took.

        An earlier version stored a start in the future, with which every punch would be dropped: until that day comes,
        the last days are read.
        """
        start = self.history_start if self.history_start <= today else today - LIVE_DAYS * DAY
        return max(start, self.kept_from(today))

    def kept_from(self, today: date) -> date:
        """The first local day whose punches are not to be purged."""
        if not self.retain_transactions_days:
            return date.min
        return today - timedelta(days=self.retain_transactions_days - 1)


# What the import judges by: a change makes every punch that belongs to no record yet be judged again.
JUDGED_BY = frozenset(
    {
        "repeat_tap_seconds", "double_tap_fix", "double_tap_minutes", "shift_gap_hours", "undirected_min_minutes",
        "undirected_max_hours", "default_direction", "import_single_punches",
    }
)  # fmt: skip

_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
BOUNDS = {
    "sync_interval_minutes": (0, 1440),
    "run_budget_seconds": (1, 7200),
    "run_budget_calls": (1, 1_000_000),
    "page_size": (1, max(one.paging.cap for one in PROFILES.values())),
    "repeat_tap_seconds": (0, 3600),
    "double_tap_minutes": (0, shifts.FOLDS_REACH // _MINUTE),
    "shift_gap_hours": (1, shifts.DAY // _HOUR),
    "undirected_min_minutes": (0, 240),
    "undirected_max_hours": (1, shifts.DAY // _HOUR),
    "retain_transactions_days": (0, 36500),
    "retain_api_logs_days": (1, 3650),
    "silence_hours": (1, 8760),
    "skew_warn_seconds": (1, 86400),
}
NAMES = tuple(field.name for field in fields(ClockSettings))
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


async def read_settings(db: AsyncSession, now: datetime | None = None) -> ClockSettings:
    """The settings that hold in this workspace."""
    stored = {name: value for name, value in await db.execute(select(Setting.name, Setting.value)) if name in NAMES}
    history_start = stored.pop("history_start", None)
    return ClockSettings(
        history_start=date.fromisoformat(history_start) if history_start else await _default_start(db, now), **stored
    )


async def hold_settings(db: AsyncSession) -> None:
    """Keeps other transactions from writing them until this one ends: a setting that was never stored has no row to
    lock."""
    await hold_name(db, "clock settings")


async def write_settings(
    db: AsyncSession, actor: audit.Actor, changes: Mapping[str, Any], now: datetime | None = None
) -> ClockSettings:
    """Stores `changes` (values or their text) and returns what holds then. Raises Invalid naming every wrong one."""
    at = now or datetime.now(UTC)
    await hold_settings(db)
    before = await read_settings(db, at)
    after = checked(before, changes, today=await local_today(db, at))
    old, new = _plain(before), _plain(after)
    was, changed = audit.changed_fields(old, new)
    await _store(db, {name: new[name] for name in changes if name in changed})
    if changed:
        schedule_looks.look_soon(db, workspace_of(db))
        await looking.look_soon(db)
        await audit.record(db, actor, "clock.settings", "clock_settings", 1, before=was, after=changed)
    if JUDGED_BY & changed.keys():
        await marks.mark_waiting(db)
    if "ignore_leading_zeros" in changed:
        await jobs.request_after(db, "clock_match")
    return after


def checked(settings: ClockSettings, changes: Mapping[str, Any], *, today: date) -> ClockSettings:
    """`settings` with `changes` applied; `today` in the connection's zone. Raises Invalid with one error a field."""
    values: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, raw in changes.items():
        try:
            values[name] = _reader(name)(name, raw)
        except ValueError as error:
            errors.append(FieldError(name, str(error)))
    if "history_start" in values and values["history_start"] > today:
        errors.append(
            FieldError(
                "history_start",
                f"it is in the future, so no punch would be read: give {day_words(today, None)} or an earlier date",
            )
        )
    if errors:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in errors), details=errors)
    return replace(settings, **values)


async def _default_start(db: AsyncSession, now: datetime | None) -> date:
    found = (await db.execute(select(Connection.created_at, Connection.timezone))).one_or_none()
    saved, zone = found or ((now or datetime.now(UTC)), "UTC")
    return saved.astimezone(ZoneInfo(zone)).date() - HISTORY


async def _store(db: AsyncSession, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name != "history_start" and value == _DEFAULTS[name]:
            await db.execute(delete(Setting).where(Setting.name == name))
            continue
        statement = insert(Setting).values(name=name, value=value)
        await db.execute(
            statement.on_conflict_do_update(index_elements=[Setting.name], set_={"value": statement.excluded.value})
        )


def _plain(settings: ClockSettings) -> dict[str, Any]:
    return {**asdict(settings), "history_start": settings.history_start.isoformat()}


_DEFAULTS = _plain(ClockSettings(EARLIEST))


def _reader(name: str) -> Callable[[str, Any], Any]:
    if name == "history_start":
        return _date
    if name == "default_direction":
        return _direction
    if name in BOUNDS:
        return _number
    if name in NAMES:
        return _switch
    raise ValueError(f"there is no such setting; known are {', '.join(NAMES)}")


def _number(name: str, raw: Any) -> int:
    low, high = BOUNDS[name]
    number = None if isinstance(raw, bool) else whole(str(raw).strip(), 9)
    if number is None or not low <= number <= high:
        raise ValueError(f"give a whole number from {low} to {high}")
    if name == "retain_transactions_days" and 0 < number < SHORTEST_RETENTION_DAYS:
        raise ValueError(f"give 0 to keep them forever, or at least {SHORTEST_RETENTION_DAYS} days")
    return number


def _switch(_: str, raw: Any) -> bool:
    word = str(raw).strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError("give true or false")


def _date(_: str, raw: Any) -> date:
    try:
        day = raw if isinstance(raw, date) else date.fromisoformat(str(raw).strip())
    except ValueError:
        raise ValueError("give a date as YYYY-MM-DD") from None
    if not EARLIEST <= day <= date(2200, 1, 1):
        raise ValueError(f"give a date from {EARLIEST} on")
    return day


def _direction(_: str, raw: Any) -> str:
    if raw not in set(Direction):
        raise ValueError(f"give one of {', '.join(Direction)}")
    return str(raw)
