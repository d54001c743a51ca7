"""What people are asked, word for word: clean messages, their plain text, canonical form and hash. Pure."""

import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import rfc8785
from bleach.sanitizer import Cleaner

from app.surveys import question_details, translations
from app.surveys.question_details import QuestionDetails
from app.surveys.translations import QuestionTexts, SurveyTexts
from app.texts import trimmed

TAGS: Final = frozenset({"p", "br", "strong", "em", "u", "s", "ul", "ol", "li", "blockquote", "h3", "h4", "a", "code"})
DROPPED_WITH_CONTENT: Final = frozenset({"script", "style"})
REL: Final = "noopener noreferrer nofollow"
# Longer text, or text with more markup, is refused unread: parsing time grows faster than the text.
LONGEST_RAW: Final = 30_000
MOST_MARKUP: Final = 1000
_LONG_TAG = re.compile(r"<[a-zA-Z/][^<>]{2500}")
_LINK = re.compile(r"(?i)(?:https?://|mailto:)[^\s\x00-\x20\x7f]+")
_OPENING = re.compile(r"<([a-zA-Z][a-zA-Z0-9:-]*)(?=[\s/>])")
_MARKED = re.compile(r"<(/?)([a-z][a-z0-9]*)((?:\"[^\"]*\"|'[^']*'|[^>\"'])*)>")
_MARKUP = re.compile(r"[<>&]")
_LONG_REFERENCE = re.compile(r"&(?=#[0-9]{8})")
_UNKEEPABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# A message whose cleaned form changes when cleaned again is kept as plain text.
_MOST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Sanitised:
    """`stripped` names what was removed, each once: "<script>", "onclick of <p>", "link to javascript:…"."""

    html: str
    stripped: tuple[str, ...]


class WordedQuestion(Protocol):
    """The words of a question."""

    @property
    def label(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def options(self) -> tuple[str, ...]: ...
    @property
    def required(self) -> bool: ...
    @property
    def details(self) -> QuestionDetails: ...
    @property
    def translations(self) -> Mapping[str, QuestionTexts]: ...


def unkeepable(text: str) -> bool:
    """True for text with control characters other than line break and tab, or half a surrogate pair."""
    return _UNKEEPABLE.search(text) is not None


def too_much_to_read(message: str) -> bool:
    """True when `sanitise` would take too long over it."""
    return len(message) > LONGEST_RAW or message.count("<") > MOST_MARKUP or _LONG_TAG.search(message) is not None


def sanitise(message: str) -> Sanitised:
    """The message with only the allowed markup, in NFC. Sanitising the result again changes nothing."""
    stripped: dict[str, None] = {}
    current = _normal(message)
    if not _MARKUP.search(current):
        return Sanitised(current, ())
    for _ in range(_MOST_ROUNDS):
        cleaned = _normal(_clean(current, stripped))
        if cleaned == current:
            break
        current = cleaned
    else:
        current = html.escape(plain_text(current), quote=False)
        stripped["all markup, because it could not be read"] = None
    return Sanitised(current, (*_lost_tags(message, current), *stripped))


def plain_text(message_html: str) -> str:
    """A sanitised message without its tags; blocks and line breaks begin a new line."""
    broken = _MARKED.sub(lambda tag: "" if tag[2] in ("strong", "em", "u", "s", "a", "code") else "\n", message_html)
    text = html.unescape(broken).replace("\r", "\n")
    return re.sub(r"[ \t]*\n\s*", "\n", text).strip()


def canonical(
    *,
    title: str,
    message: str,
    type: str,  # noqa: A002 - the field's name
    enforcement: str,
    questions: Iterable[WordedQuestion],
    closing_html: str = "",
    language: str = "",
    translations: Mapping[str, SurveyTexts] | None = None,
    anonymity: str = "named",
    split: str | None = None,
) -> str:
    """The RFC 8785 text whose hash is the content hash. Message and closing words are sanitised. What was added after
    the first version of this form is present only when a survey has it, so that older content keeps its hash."""
    every = tuple(questions)
    asked: list[dict[str, Any]] = [
        {
            "label": one.label,
            "type": one.type,
            "options": list(one.options),
            "required": one.required,
            **question_details.written(one.details),
        }
        for one in every
    ]
    content: dict[str, Any] = {
        "title": title,
        "message": message,
        "type": type,
        "enforcement": enforcement,
        "questions": asked,
    }
    if closing_html:
        content["closing_html"] = closing_html
    if translations:
        content |= {"language": language, "translations": _translated(translations, every)}
    if anonymity != "named":
        content |= {"anonymity": anonymity, **({"split": split} if split else {})}
    return rfc8785.dumps(content).decode()


def _translated(by_tag: Mapping[str, SurveyTexts], questions: Sequence[WordedQuestion]) -> dict[str, Any]:
    """By language; questions with texts in it by their numbers, from 1, because this form has no ids."""
    found = {}
    for tag, texts in by_tag.items():
        numbered = {
            str(number): one.translations[tag] for number, one in enumerate(questions, 1) if tag in one.translations
        }
        asked = {number: translations.written(one) for number, one in numbered.items()}
        found[tag] = {**translations.written(texts), **({"questions": asked} if asked else {})}
    return found


def content_hash(canonical_text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(canonical_text.encode()).hexdigest()


def _normal(message: str) -> str:
    return trimmed(message.replace("\r\n", "\n").replace("\r", "\n"))


def _clean(message: str, stripped: dict[str, None]) -> str:
    def allowed(tag: str, name: str, value: str) -> bool:
        if tag in DROPPED_WITH_CONTENT:
            return False
        if tag != "a" or name not in ("href", "title", "rel"):
            stripped[f"{name} of <{tag}>"] = None
            return False
        # The scheme must be spelled out. What a browser makes of entities and blanks before it does not count.
        if name == "href" and not _LINK.fullmatch(value):
            stripped[f"link to {value[:60]}"] = None
            return False
        return name != "rel"

    cleaner = Cleaner(
        tags=TAGS | DROPPED_WITH_CONTENT,
        attributes=allowed,
        protocols=("http", "https", "mailto"),
        strip=True,
        filters=[_without_scripts, _with_rel],
    )
    # Python refuses to read a number with thousands of digits, and the sanitiser asks it to.
    cleaned: str = cleaner.clean(_LONG_REFERENCE.sub("&amp;", message))
    return cleaned


def _without_scripts(source: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    depth = 0
    for token in source:
        if token.get("name") in DROPPED_WITH_CONTENT:
            depth += {"StartTag": 1, "EndTag": -1}.get(token["type"], 0)
        elif depth == 0:
            yield token


def _with_rel(source: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for token in source:
        if token["type"] == "StartTag" and token["name"] == "a":
            kept = token["data"]
            names = [name for name in ((None, "href"), (None, "title")) if name in kept]
            # A value in single quotes would come out with its ampersands escaped twice.
            values = {name: kept[name].replace('"', "&quot;") for name in names}
            token["data"] = {**values, (None, "rel"): REL} if (None, "href") in kept else values
        yield token


def _lost_tags(message: str, cleaned: str) -> list[str]:
    names = dict.fromkeys(name.lower() for name in _OPENING.findall(message))
    lost = [f"<{name}>" for name in names if name not in TAGS and f"&lt;{name}" not in cleaned.lower()]
    return [*lost, "a comment"] if "<!--" in message else lost
