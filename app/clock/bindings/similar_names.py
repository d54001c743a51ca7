"""When two names are similar: folded, and then compared letter by letter. Pure.

Who may be suggested for a similar name is decided in matching.py.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from app.counting import near

# From this score on, of 100, two folded names are similar.
SIMILAR = 88.0
_WORDS = re.compile(r"[^\W_]+")
Ranked = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class ComparedNames:
    """What was compared before a pass began: with a hundred thousand people it takes minutes, and a transaction must
    not wait for that. `folded` are the names that there were, `found` the similar ones of each name."""

    folded: Mapping[int, str] = field(default_factory=dict)
    found: dict[str, Ranked] = field(default_factory=dict)

    def compare(self, names: Iterable[str]) -> None:
        for name in names:
            self.found[name] = ranked(name, self.folded)

    def new_in(self, folded: Mapping[int, str]) -> dict[int, str]:
        """Names that are there by now and were not compared."""
        return {key: name for key, name in folded.items() if self.folded.get(key) != name}

    def ranked(self, name: str, folded: Mapping[int, str], new: Mapping[int, str]) -> Ranked:
        """As `ranked`, where only `new` names must still be compared."""
        if name not in self.found:
            return ranked(name, folded)
        standing = [one for one in self.found[name] if folded.get(one[0]) == self.folded[one[0]]]
        return sorted([*standing, *ranked(name, new)], key=lambda one: (-one[1], one[0])) if new else standing


def folded_name(name: str) -> str:
    """A name without accents, case, punctuation and word order."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join(sorted(_WORDS.findall(plain.casefold())))


def ranked(name: str, folded: Mapping[int, str]) -> Ranked:
    """(key, score) of the names in `folded` that are similar to `name`: the best score first, equal ones by key."""
    wanted = folded_name(name)
    if not wanted:
        return []
    found = process.extract(wanted, folded, scorer=fuzz.ratio, score_cutoff=SIMILAR, limit=None)
    return [(key, -score) for score, key in sorted((-near(score, 1), key) for _, score, key in found)]
