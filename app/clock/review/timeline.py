"""A day's taps as the macro `timeline.day` draws them: numbers along a line, and the words below. Pure; judges nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.clock.codes import OUTCOMES, Outcome, punch_label
from app.clock.pairing.inputs import PairingPunch, Record
from app.clock.pairing.shifts import Effect, Tap
from app.clock.pairing.verdicts import CreateRecord, Judgement, Verdict
from app.clock.review.words import EFFECT_LABELS, ROLE_LABELS

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
    """The line for `punches`, around `current`. Times are local to the rules' zone."""
    zone = judgement.rules.zone
    near = sorted(punches, key=lambda one: abs(one.at - current.at))[:MOST_TAPS]
    shown = sorted(near, key=lambda one: (one.at, one.id))
    scale = _Scale.around(shown, behind, zone)
    known = {one.punch_id: one for one in judgement.verdicts}
    day = current.at.astimezone(zone)
    return {
        "label": f"Taps of {day.day} {day:%B}",
        "taps": [_tap(one, known.get(one.id), one.id == current.id, scale) for one in shown],
        "records": [_record(band, scale) for band in behind],
        "breaks": [_pause(out, back, scale) for band in behind for out, back in band.breaks],
        "axis": list(scale.ticks()),
        "now_x": scale.x(judgement.now) if scale.start < judgement.now < scale.end else None,
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
        return round(min(1000.0, max(0.0, 1000 * ((at - self.start) / (self.end - self.start)))), 1)

    def ticks(self) -> Iterator[dict[str, Any]]:
        hours = (self.end - self.start) // HOUR
        step = next((one for one in STEPS if hours / one <= MOST_TICKS), 24 * -(-hours // (24 * MOST_TICKS)))
        at = self.start
        while at <= self.end:
            local = at.astimezone(self.zone)
            if not local.hour % min(step, 24):
                label = f"{local:%a}" if not local.hour and hours > 24 else f"{local:%H:%M}"  # noqa: PLR2004 -- hours of a day
                yield {"x": self.x(at), "label": label}
            at += HOUR


def _tap(punch: PairingPunch, verdict: Verdict | None, current: bool, scale: _Scale) -> dict[str, Any]:  # noqa: FBT001 -- the signature is the template's
    local = punch.at.astimezone(scale.zone)
    role, effect, label = _words(punch, verdict)
    return {
        "x": scale.x(punch.at),
        "time": f"{local:%H:%M:%S}",
        "title": f"{local:%Y-%m-%d %H:%M:%S} {scale.zone.key}, {punch.at:%Y-%m-%d %H:%M:%S} UTC",
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
        "x1": scale.x(band.clock_in),
        "x2": None if band.clock_out is None else scale.x(band.clock_out),
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
    return {"x1": scale.x(out), "x2": scale.x(back), "label": label}


def _clock(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%H:%M}"
