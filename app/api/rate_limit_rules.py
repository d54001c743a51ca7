"""How many requests a token may still make: the budget of all processes, and the lease that each process holds. Pure.

The budget is a bucket that refills evenly: `per_minute` requests at once, and as many in each minute. A process takes a
block of requests out of it and serves from the block, so that it need not ask each time. A block lasts LEASE_S at most,
and the rest of it goes back. So in any time, all processes together serve at most what one bucket gives in that time
and LEASE_S more. That is a twelfth of a minute's requests more, for any number of processes.
"""

from dataclasses import dataclass, replace
from math import ceil, floor

LEASE_S = 5.0
# A process holds at most this part of a minute's requests.
SHARE = 20


@dataclass(frozen=True, slots=True)
class Bucket:
    """What was in the bucket at the time `at`, in seconds of the one clock that all processes use."""

    left: float
    at: float


@dataclass(frozen=True, slots=True)
class RequestLease:
    """What a process holds, in seconds of its own clock: `left` of `taken` requests, until `ends`. `asked` is when it
    asked last, and `beyond` what was left in the budget then."""

    left: int = 0
    taken: int = 0
    ends: float = 0.0
    asked: float = 0.0
    beyond: float = 1.0


@dataclass(frozen=True, slots=True)
class Serve:
    """The request is counted, and `lease` is what remains."""

    lease: RequestLease


@dataclass(frozen=True, slots=True)
class Ask:
    """The process must ask the budget first: give `returned` back, and take up to `wanted`."""

    wanted: int
    returned: int


@dataclass(frozen=True, slots=True)
class Refuse:
    wait_s: int


Decision = Serve | Ask | Refuse


def granted(budget: Bucket | None, now: float, per_minute: int, wanted: int, returned: int) -> tuple[Bucket, int]:
    """The budget after a process gave back `returned` requests and took up to `wanted`, and how many it got. A token
    without a request in the last minute has no stored budget."""
    left = float(per_minute)
    if budget is not None:
        refilled = max(0.0, now - budget.at) * per_minute / 60
        left = min(left, budget.left + returned + refilled)
    number = min(wanted, floor(left))
    return Bucket(left - number, now), number


def decided(lease: RequestLease, now: float, per_minute: int) -> Decision:
    """What a process does with a request."""
    if lease.left and now < lease.ends:
        return Serve(replace(lease, left=lease.left - 1))
    beyond = lease.beyond + (now - lease.asked) * per_minute / 60
    if not lease.left and beyond < 1:
        return Refuse(wait_s(beyond, per_minute))
    return Ask(_block(lease, now, per_minute), lease.left)


def _block(lease: RequestLease, now: float, per_minute: int) -> int:
    """If the last block was used up before it ended, twice as many; otherwise as many as it served. So a process with
    few requests takes little from the others."""
    if now >= lease.ends + LEASE_S:
        return 1
    served = lease.taken - lease.left
    most = max(1, per_minute // SHARE)
    return min(most, max(1, served if lease.left else 2 * served))


def leased(number: int, beyond: float, asked: float) -> RequestLease:
    """The lease on what the budget gave. It counts from the moment of asking, because the budget may have given it at
    any time after that."""
    return RequestLease(number, number, asked + LEASE_S, asked, beyond)


def wait_s(left: float, per_minute: int) -> int:
    """Whole seconds until a bucket with `left` requests holds a whole one. A client that waits so long is served."""
    return max(1, ceil((1 - left) * 60 / per_minute))
