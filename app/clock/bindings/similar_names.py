"""When two names are similar: folded, and then compared letter by letter. Pure.

Who may be suggested for a similar name is decided in matching.py.
"""

import re
import unicodedata
from collections.abc import Mapping

from rapidfuzz import fuzz, process

from app.counting import near

# From this score on, of 100, two folded names are similar.
SIMILAR = 88.0
_WORDS = re.compile(r"[^\W_]+")


def folded_name(name: str) -> str:
    """A name without accents, case, punctuation and word order."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join(sorted(_WORDS.findall(plain.casefold())))


def ranked(name: str, folded: Mapping[int, str]) -> list[tuple[int, float]]:
    """(key, score) of the names in `folded` that are similar to `name`: the best score first, equal ones by key."""
    wanted = folded_name(name)
    if not wanted:
        return []
    found = process.extract(wanted, folded, scorer=fuzz.ratio, score_cutoff=SIMILAR, limit=None)
    return [(key, -score) for score, key in sorted((-near(score, 1), key) for _, score, key in found)]
