"""What became of the rows of one resource in one run, as the contract's sync run shows it."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    fetched: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    set_aside: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.fetched + other.fetched,
            self.created + other.created,
            self.updated + other.updated,
            self.unchanged + other.unchanged,
            self.missing + other.missing,
            self.set_aside + other.set_aside,
        )

    def plain(self) -> dict[str, int]:
        return asdict(self)
