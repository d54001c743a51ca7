"""Folds whose own tap went to another employee, or to nobody: each stands for itself (import-rules: "Order of decisions")."""

from collections.abc import Iterable, Sequence

from app.clock.taps import FOLDS, Punch, remote_order


def lone_folds(punches: Iterable[Punch], elsewhere: Sequence[Punch]) -> frozenset[int]:
    """The ids of such folds among `punches`. `elsewhere`: punches of the same records whose codes are not this employee's now."""
    if not elsewhere:
        return frozenset()
    taps = _latest_first([*punches, *elsewhere])
    away = {punch.id for punch in elsewhere}
    return frozenset(
        fold.id
        for fold in punches
        if fold.record_id is not None and fold.outcome in FOLDS and _own_tap(fold, taps) in away
    )


def _own_tap(fold: Punch, taps: Iterable[Punch]) -> int | None:
    """The last tap of its role with its record."""
    own = (fold.record_id, fold.imported_role)
    place = _place(fold)
    return next((tap.id for tap in taps if (tap.record_id, tap.imported_role) == own and _place(tap) < place), None)


def _latest_first(punches: Iterable[Punch]) -> list[Punch]:
    taps = [punch for punch in punches if punch.record_id is not None and punch.outcome not in FOLDS]
    return sorted(taps, key=_place, reverse=True)


def _place(punch: Punch) -> tuple[object, ...]:
    """Pairing's order among punches of one role."""
    return (punch.at, remote_order(punch.remote_id), punch.emp_code, punch.id)
