"""Tags of languages (BCP 47), and which of those on offer a person reads best. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

LONGEST_TAG = 35
MOST_ASKED_FOR = 20
_TAG = re.compile(r"[a-z]{2,8}(-[a-z0-9]{1,8})*", re.ASCII | re.IGNORECASE)
_QUALITY = re.compile(r"\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*", re.ASCII | re.IGNORECASE)
_SCRIPT, _REGION = 4, 2
_RIGHT_TO_LEFT = frozenset(
    ["ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"]
)
_RIGHT_TO_LEFT_SCRIPTS = frozenset(["Adlm", "Arab", "Aran", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"])


@dataclass(frozen=True, slots=True)
class Language:
    """One in which Muster itself speaks. `name` is what its own speakers call it."""

    tag: str
    name: str

    @property
    def direction(self) -> str:
        return direction(self.tag)


LANGUAGES = (
    Language("en", "English"),
    Language("de", "Deutsch"),
    Language("es", "Español"),
    Language("fr", "Français"),
    Language("tr", "Türkçe"),
    Language("ar", "العربية"),
)
TAGS = tuple(one.tag for one in LANGUAGES)
ENGLISH = TAGS[0]


def tag_of(text: str) -> str | None:
    """The tag in its usual spelling, such as `de-AT` or `zh-Hant-TW`; None for what is not a tag."""
    if len(text) > LONGEST_TAG or not _TAG.fullmatch(text):
        return None
    first, *others = text.lower().split("-")
    return "-".join([first, *(_spelled(part) for part in others)])


def asked_for(accept_language: str) -> tuple[str, ...]:
    """The tags of an `Accept-Language` header, best first.
    What is not a tag, `*`, and what the header refuses (q=0) are left out."""
    found = sorted(_weighed(accept_language), key=lambda one: -one[0])
    return tuple(dict.fromkeys(tag for quality, tag in found if quality > 0))


def wanted(lang: str, choice: str | None, accept_language: str) -> tuple[str, ...]:
    """What a person reads, best first: what the address asks for, their own choice,
    what their browser or app prefers."""
    first = (tag for one in (lang, choice or "") if (tag := tag_of(one)))
    return tuple(dict.fromkeys([*first, *asked_for(accept_language)]))


def best(offered: Collection[str], wanted: Iterable[str], default: str) -> str:
    """Which of `offered` to use, as it is spelled there (RFC 4647, lookup): `de-AT` finds `de`, never `de-CH`."""
    spelled = {tag.lower(): tag for tag in offered}
    found = (spelled[one] for tag in wanted for one in shortened(tag.lower()) if one in spelled)
    return next(found, default)


def direction(tag: str) -> str:
    """`ltr` or `rtl`, for the attribute `dir`."""
    first, *others = tag.split("-")
    script = next((part.title() for part in others if len(part) == _SCRIPT and part.isalpha()), None)
    is_rtl = script in _RIGHT_TO_LEFT_SCRIPTS if script else first.lower() in _RIGHT_TO_LEFT
    return "rtl" if is_rtl else "ltr"


def _weighed(header: str) -> Iterator[tuple[float, str]]:
    """Each tag with its quality; a range without one has 1."""
    for part in header.split(",")[:MOST_ASKED_FOR]:
        text, semicolon, parameter = part.partition(";")
        quality = _QUALITY.fullmatch(parameter) if semicolon else None
        tag = tag_of(text.strip())
        if tag and (quality or not semicolon):
            yield float(quality[1]) if quality else 1.0, tag


def shortened(tag: str) -> Iterator[str]:
    """`zh-hant-tw`, `zh-hant`, `zh`: cut from the end, a lone letter together with what follows it.
    Nothing of what is too long for a
    tag: an address may ask for anything."""
    parts = tag.split("-") if len(tag) <= LONGEST_TAG else []
    while parts:
        yield "-".join(parts)
        parts.pop()
        if len(parts) > 1 and len(parts[-1]) == 1:
            parts.pop()


def _spelled(part: str) -> str:
    if len(part) == _SCRIPT and part.isalpha():
        return part.title()
    return part.upper() if len(part) == _REGION else part
