"""Folds whose own tap now belongs to another employee or to none: each counts on its own. Pure."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from itertools import takewhile

from app.clock.pairing.inputs import FOLDS, UNPAIRED, PairingPunch, Rules, remote_order, role_now


def lone_folds(punches: Sequence[PairingPunch], elsewhere: Sequence[PairingPunch], rules: Rules) -> frozenset[int]:
    """The ids of such folds among `punches`. `elsewhere`: punches of the same records whose codes are not this
    employee's now."""
    folds = [punch for punch in punches if punch.record_id is not None and punch.outcome in FOLDS]
    if not folds:
        return frozenset()
    here = {punch.id for punch in punches}
    lone = {fold.id for fold in folds if fold.repeats is not None and fold.repeats not in here}
    return frozenset(lone | _inferred([fold for fold in folds if fold.repeats is None], punches, elsewhere, rules))


def _inferred(
    folds: Sequence[PairingPunch], punches: Sequence[PairingPunch], elsewhere: Sequence[PairingPunch], rules: Rules
) -> set[int]:
    """The lone ones among folds of an older release, which did not note what a fold repeats."""
    if not folds or not elsewhere:
        return set()
    latest_first = sorted(filter(_stood, [*punches, *elsewhere]), key=_place, reverse=True)
    away = {punch.id for punch in elsewhere}
    return {fold.id for fold in folds if _is_lone(fold, latest_first, away, rules.fold_limit)}


def _stood(punch: PairingPunch) -> bool:
    """True for a tap that was no fold when it was judged last."""
    return punch.outcome is not None and punch.outcome not in FOLDS and punch.outcome not in UNPAIRED


def _is_lone(
    fold: PairingPunch, latest_first: Iterable[PairingPunch], away: AbstractSet[int], limit: timedelta
) -> bool:
    """The own tap is the last one of the role before the fold. There is one exception: a tap that stayed, of the same
    record, near enough and with no other role between, is the own tap, too. What lies between was then a fold as well,
    and stands for itself elsewhere."""
    before = [tap for tap in latest_first if _place(tap) < _place(fold)]
    run = takewhile(lambda tap: _role(tap) == fold.imported_role and fold.at - tap.at <= limit, before)
    if any(tap.id not in away and tap.record_id == fold.record_id for tap in run):
        return False
    same = (tap for tap in before if _role(tap) == fold.imported_role and tap.record_id in {fold.record_id, None})
    own = next(same, None)
    return own is not None and own.id in away


def _role(punch: PairingPunch) -> str | None:
    return role_now(punch) if punch.record_id is None else punch.imported_role


def _place(punch: PairingPunch) -> tuple[object, ...]:
    """Pairing's order among punches of one role."""
    return (punch.at, remote_order(punch.remote_id), punch.emp_code, punch.id)
