"""A day's taps as the macro `timeline.day` draws them: numbers along a line, and the words below. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.charts.lanes import lanes
from app.charts.scale import place
from app.clock.codes import punch_label
from app.clock.outcomes import OUTCOMES, Outcome
from app.clock.pairing.inputs import PairingPunch, Record
from app.clock.pairing.shifts import Effect, Tap
from app.clock.pairing.verdicts import CreateRecord, Judgement, Verdict
from app.clock.review.words import EFFECT_LABELS, ROLE_LABELS
from app.counting import near
from app.dates import PageZone

HOUR = timedelta(hours=1)
SHORTEST = timedelta(hours=6)
# So many fit into a drawer and can still be told apart; those nearest to the punch are kept.
MOST_TAPS = 40
STEPS = (1, 2, 3, 4, 6, 12, 24)
MOST_TICKS = 9
_DRAWN = {
    Effect.CLOCK_IN: "opens",
    Effect.CLOCK_OUT: "closes",
    Effect.BREAK_START: "break",
    Effect.BREAK_END: "break",
    Effect.INNER: "inside",
    Effect.SLIP: "inside",
    Effect.FOLD: "folded",
    Effect.ORPHAN: "orphan",
}
# From the top of the drawing, in pixels, by lane: the middle of a mark.
LANE_Y = (60, 37, 15)
# In thousandths of the line: a shorter band can't be seen.
_SHORTEST_BAND = {"record": 4.0, "break": 3.0}
_EDGE = 20
_WAITS = {Effect.CLOCK_IN, Effect.CLOCK_OUT, Effect.ORPHAN}


@dataclass(frozen=True, slots=True)
class Band:
    """A record behind the taps; `id` None: one that the next import makes."""

    id: int | None
    status: str
    clock_in: datetime
    clock_out: datetime | None
    breaks: Sequence[tuple[datetime, datetime]]


def bands(records: Iterable[Record], planned: Iterable[CreateRecord]) -> list[Band]:
    """The records that stand, earliest first, and those that the next import makes."""
    found = [Band(one.id, one.status, one.clock_in, one.clock_out, one.breaks) for one in records if not one.deleted]
    found += [Band(None, "awaiting", one.clock_in, one.clock_out, one.breaks) for one in planned]
    return sorted(found, key=lambda band: band.clock_in)


def draw(
    current: PairingPunch, punches: Sequence[PairingPunch], judgement: Judgement, behind: Sequence[Band]
) -> dict[str, Any]:
    """The line for `punches`, around `current`, for the macro `timeline.day`. Times are local to the rules' zone."""
    zone = judgement.rules.zone
    near = sorted(punches, key=lambda one: abs(one.at - current.at))[:MOST_TAPS]
    shown = sorted(near, key=lambda one: (one.at, one.id))
    scale = _Scale.around(shown, behind, zone)
    known = {one.punch_id: one for one in judgement.verdicts}
    heights = lanes([scale.x(one.at) for one in shown])
    day = current.at.astimezone(zone)
    return {
        "label": f"Taps of {day.day} {day:%B}",
        "taps": [
            {**_tap(one, known.get(one.id), one.id == current.id, scale), **_mark(lane)}
            for one, lane in zip(shown, heights, strict=True)
        ],
        "records": [_record(band, scale) for band in behind],
        "breaks": [_pause(out, back, scale) for band in behind for out, back in band.breaks],
        "axis": list(scale.ticks()),
        "now_x": scale.place(judgement.now) if scale.start < judgement.now < scale.end else None,
        "left_out": len(punches) - len(shown),
    }


@dataclass(frozen=True, slots=True)
class _Scale:
    start: datetime
    end: datetime
    zone: ZoneInfo

    @classmethod
    def around(cls, punches: Sequence[PairingPunch], behind: Sequence[Band], zone: ZoneInfo) -> "_Scale":
        """From an hour before the first thing to an hour after the last, on whole hours."""
        instants = [one.at for one in punches]
        instants += [at for band in behind for at in (band.clock_in, band.clock_out) if at is not None]
        first, last = min(instants) - HOUR / 2, max(instants) + HOUR / 2
        start = first.astimezone(zone).replace(minute=0, second=0, microsecond=0).astimezone(first.tzinfo)
        end = max(last, start + SHORTEST)
        whole = -(-(end - start) // HOUR)
        return cls(start, start + whole * HOUR, zone)

    def x(self, at: datetime) -> float:
        """0..1000 along the line."""
        return near(min(1000.0, max(0.0, 1000 * ((at - self.start) / (self.end - self.start)))), 1)

    def place(self, at: datetime) -> str:
        return place(self.x(at) / 10)

    def band(self, start: datetime, end: datetime | None, what: str) -> dict[str, str]:
        """Place and width; without an end it reaches to the end of the line."""
        first, last = self.x(start), 1000.0 if end is None else self.x(end)
        return {"x": place(first / 10), "width": place(max(last - first, _SHORTEST_BAND[what]) / 10)}

    def ticks(self) -> Iterator[dict[str, Any]]:
        """`odd` ones lose their label where it is narrow."""
        hours = (self.end - self.start) // HOUR
        step = next((one for one in STEPS if hours / one <= MOST_TICKS), 24 * -(-hours // (24 * MOST_TICKS)))
        at, odd = self.start, False
        while at <= self.end:
            local, x = at.astimezone(self.zone), self.x(at)
            if not local.hour % min(step, 24):
                label = f"{local:%a}" if not local.hour and hours > 24 else f"{local:%H:%M}"  # noqa: PLR2004 -- hours of a day
                yield {"x": place(x / 10), "anchor": _anchor(x), "label": label, "odd": odd}
                odd = not odd
            at += HOUR


def _anchor(x: float) -> str:
    """The side on which a label is anchored, so that no label leaves the drawing."""
    return "start" if x < _EDGE else "end" if x > 1000 - _EDGE else "middle"


def _mark(lane: int) -> dict[str, Any]:
    """`stem`: from where to where a mark in an upper lane is tied to the lowest one, or None."""
    y = LANE_Y[lane]
    return {"y": y, "stem": (y + 11, LANE_Y[0] - 11) if lane else None}


def _tap(punch: PairingPunch, verdict: Verdict | None, current: bool, scale: _Scale) -> dict[str, Any]:  # noqa: FBT001 -- the signature is the template's
    local = punch.at.astimezone(scale.zone)
    role, effect, label = _words(punch, verdict)
    return {
        "x": scale.place(punch.at),
        "time": f"{local:%H:%M:%S}",
        "title": PageZone(scale.zone, local.date()).exact(punch.at),
        "role": role,
        "effect": effect,
        "effect_label": label,
        "current": current,
        "url": f"/clock_transactions/{punch.id}",
        "terminal": punch.terminal_sn or "",
    }


def _words(punch: PairingPunch, verdict: Verdict | None) -> tuple[str, str, str]:
    """Role, kind of mark, and what it did."""
    tap = tap_of(verdict) if verdict is not None else None
    if tap is not None and verdict is not None:
        waits = verdict.outcome is Outcome.AWAITING and tap.effect in _WAITS
        return ROLE_LABELS[tap.role], "waiting" if waits else _DRAWN[tap.effect], EFFECT_LABELS[tap.effect]
    role = punch_label(punch.code) or "No code"
    word = verdict.outcome if verdict is not None else (Outcome(punch.outcome) if punch.outcome else None)
    if word is None:
        return role, "waiting", "not judged yet"
    return role, "inside" if word is Outcome.IMPORTED else "refused", OUTCOMES[word].label.lower()


def tap_of(verdict: Verdict) -> Tap | None:
    """The tap of a verdict's shift; None for a punch that takes no part in pairing."""
    shift = verdict.because.shift
    if shift is None:
        return None
    return next((tap for tap in (*shift.taps, *shift.folds) if tap.punch.id == verdict.punch_id), None)


def _record(band: Band, scale: _Scale) -> dict[str, Any]:
    return {
        **scale.band(band.clock_in, band.clock_out, "record"),
        "open": band.clock_out is None,
        "label": _label(band, scale.zone),
        "status": band.status,
        "url": None if band.id is None else f"/attendance/{band.id}",
    }


def _label(band: Band, zone: ZoneInfo) -> str:
    end = _clock(band.clock_out, zone) if band.clock_out else "still open"
    hours = f"{_clock(band.clock_in, zone)}–{end}"
    if band.id is None:
        return f"A record that the next import makes, {hours}"
    return f"Record {band.id}, {hours}, {band.status.replace('_', '-')}"


def _pause(out: datetime, back: datetime, scale: _Scale) -> dict[str, Any]:
    label = f"Break {_clock(out, scale.zone)}–{_clock(back, scale.zone)}"
    return {**scale.band(out, back, "break"), "label": label}


def _clock(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%H:%M}"
