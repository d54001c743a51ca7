"""One page of a listing, as it came, and the question whether another one follows. Rows are still raw."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, repr=False)
class Page:
    """`total` is the server's count of the whole listing."""

    resource: str
    number: int
    rows: list[Any]
    total: int
    pages: int | None
    said_number: int | None

    @cached_property
    def digest(self) -> bytes:
        """Sixteen bytes of what the rows say. When two pages in a row have the same digest, the server gave one page
        twice."""
        return blake2b(_encode(self.rows), digest_size=16).digest()

    def repeats(self, last_digest: bytes | None) -> bool:
        """True when this is the page before it again: the server ignores the page number,
        and the walk is incomplete."""
        if self.said_number is not None and self.said_number < self.number and self.rows:
            return True
        return bool(self.rows) and last_digest is not None and self.digest == last_digest

    def more_after(self, received: int) -> bool:
        """True when to ask for the next page after `received` rows in all pages so far, this one included.

        Counts rows, never page times size: a server may give fewer than it was asked for. `next` decides nothing.
        """
        return bool(self.rows) and received < self.total
