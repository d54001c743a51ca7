"""The host's people as a match pass asks for them: by ID number, by kiosk code, by a similar name. Pure.

When two names are similar: similar_names.py. Who may be matched with whom: matching.py.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.clock.bindings import similar_names
from app.clock.bindings.similar_names import ComparedNames
from app.texts import id_number_key


@dataclass(frozen=True, slots=True)
class SimilarEmployee:
    host_employee_id: int
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class HostEmployee:
    """`eligible`: active and not deleted. Others get no new match, and keep the links that they have."""

    id: int
    id_number: str
    name: str
    eligible: bool
    deleted: bool = False


@dataclass(frozen=True)
class Directory:
    """The host's people, indexed for the questions of one pass."""

    by_id: Mapping[int, HostEmployee]
    by_number: Mapping[str, Sequence[HostEmployee]]
    kiosk: Mapping[str, int]
    ignore_leading_zeros: bool
    folded_names: Mapping[int, str] = field(default_factory=dict)
    compared: ComparedNames = field(default_factory=ComparedNames)
    new_names: Mapping[int, str] = field(default_factory=dict)

    def having(self, number: str) -> Sequence[HostEmployee]:
        """Everybody with this ID number, including those who left."""
        return self.by_number.get(self.key(number), ())

    def key(self, number: str) -> str:
        return number_key(number, ignore_leading_zeros=self.ignore_leading_zeros)

    def similar(self, name: str) -> list[SimilarEmployee]:
        """Eligible people whose name is similar, the most similar first."""
        ranked = self.compared.ranked(name, self.folded_names, self.new_names)
        return [SimilarEmployee(key, self.by_id[key].name, score) for key, score in ranked]


def directory(
    employees: Iterable[HostEmployee],
    kiosk: Mapping[str, int],
    *,
    ignore_leading_zeros: bool = False,
    compared: ComparedNames | None = None,
) -> Directory:
    """`kiosk` maps an enrolled code to the host employee's id; `compared` saves comparing these names again."""
    by_id = {one.id: one for one in sorted(employees, key=lambda one: one.id)}
    by_number: dict[str, list[HostEmployee]] = defaultdict(list)
    for one in by_id.values():
        by_number[number_key(one.id_number, ignore_leading_zeros=ignore_leading_zeros)].append(one)
    names = {one.id: similar_names.folded_name(one.name) for one in by_id.values() if one.eligible}
    names = {key: name for key, name in names.items() if name}
    compared = compared or ComparedNames()
    return Directory(by_id, by_number, kiosk, ignore_leading_zeros, names, compared, compared.new_in(names))


def number_key(number: str, *, ignore_leading_zeros: bool = False) -> str:
    """The form in which codes and ID numbers are compared: without leading zeros if the setting says so."""
    key = id_number_key(number)
    return (key.lstrip("0") or key[-1:]) if ignore_leading_zeros else key
