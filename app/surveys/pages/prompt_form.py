"""Reads the prompt's form as a browser sends it, without a query: the name of a field says what it is
(templates/components/ survey_prompt.html), because the survey may have changed after it was shown."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from litestar.datastructures import FormMultiDict

from app.errors import FieldError, Invalid
from app.languages import tag_of
from app.surveys import decimals
from app.surveys.item import Item, ItemQuestion
from app.surveys.ledger.answers import CARRYING, HIDDEN, WHOLE, Given
from app.surveys.ledger.chain import BETWEEN
from app.surveys.words import ACTIONS
from app.texts import uuid_of
from app.wording.marked import marked

Kept = dict[str, str | list[str]]
_ROW = "-row-"
_SEVERAL = ("-ticks", _ROW)
_FIELD = re.compile(r"q-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(-stars|-score|-ticks|-number|-row-\d{1,2})?")
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
TAKEN_OUT = marked(
    "Because of your other answers, this question is not for you. Your answer to it was removed: send the others again."
)
# What the page asks to confirm, and the way back.
CONFIRMED, BACK = ("agree", "decline"), "back"
UNREADABLE = marked("This form can't be read. Reload the page and repeat.")


@dataclass(frozen=True, slots=True)
class Sent:
    """`action` is "" when somebody pressed Enter instead of a button. `asks` is what they must confirm: agree or
    decline; "back" when they go back, otherwise "". `kept` is what was chosen or typed, by question id, to show it
    again when it is refused. `language` is the tag of what the person read, "" when the form does not say. `number` of
    `total` is what the queue said when the item was shown."""

    survey: UUID
    version: int
    content_hash: str
    action: str
    asks: str
    number: int
    total: int
    answers: tuple[Given, ...]
    kept: Kept = field(repr=False)
    language: str = ""

    @property
    def languages(self) -> tuple[str, ...]:
        return (self.language,) if self.language else ()


def read(form: FormMultiDict) -> Sent:
    """Raises Invalid for a request that our forms never send. Only actions with answers include them."""
    action, version, survey = (str(form.get(name, "")) for name in ("action", "version", "survey"))
    asks = str(form.get("ask", ""))
    is_known = action in ("", *ACTIONS) and asks in ("", *CONFIRMED, BACK)
    if not is_known or not _WHOLE_NUMBER.fullmatch(version):
        raise Invalid(UNREADABLE)
    answers = [Given(UUID(key), value) for key, kind, texts in _questions(form) for value in _values(kind, texts)]
    return Sent(
        survey=_uuid(survey),
        version=int(version),
        content_hash=str(form.get("content_hash", "")),
        action=action,
        asks=asks,
        number=_count(form, "number"),
        total=_count(form, "total"),
        answers=tuple(answers) if (action or asks) in CARRYING else (),
        kept=kept(form),
        language=tag_of(str(form.get("language", ""))) or "",
    )


def kept(form: FormMultiDict) -> Kept:
    """What was chosen or typed, by question id."""
    return {key: texts if kind in _SEVERAL else texts[0] for key, kind, texts in _questions(form)}


def fitting(kept: Kept, item: Item) -> Kept:
    """The part of it that still fits the present questions."""
    asked = {str(one.key): one for one in item.questions}
    return {key: value for key, value in kept.items() if key in asked and _fits(value, asked[key])}


def without_hidden(kept: Kept, at: dict[str, str]) -> tuple[Kept, dict[str, str]]:
    """What was chosen, without answers to hidden questions, and what is wrong. A browser without script shows all
    questions, and can't undo a chosen radio button. So it is undone here, and the person reads that before anything is
    recorded."""
    hidden = {key for key, message in at.items() if message == HIDDEN}
    left = {key: value for key, value in kept.items() if key not in hidden}
    return left, {key: TAKEN_OUT if key in hidden else message for key, message in at.items()}


def problems(item: Item, details: Iterable[FieldError]) -> tuple[dict[str, str], str]:
    """What is wrong by question id; and in one sentence what belongs to no question of the item."""
    asked = {str(one.key) for one in item.questions}
    told = {one.field: one.message for one in details}
    at = {field: message for field, message in told.items() if field in asked}
    return at, "" if at else told.get(WHOLE, UNREADABLE)


def _questions(form: FormMultiDict) -> Iterator[tuple[str, str, list[str]]]:
    """By question: the kind of its field, and what came. The rows of a matrix are one question."""
    sent: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(form.keys()):
        if found := _FIELD.fullmatch(name):
            kind = _ROW if (found[2] or "").startswith(_ROW) else found[2] or ""
            texts = [_text(one) for one in form.getall(name) if isinstance(one, str)]
            sent.setdefault((found[1], kind), []).extend(texts)
    for (key, kind), texts in sent.items():
        yield key, kind, texts or [""]


def _text(sent: str) -> str:
    """Browsers send line breaks as CR LF; only blanks are no text."""
    return sent.replace("\r\n", "\n") if sent.strip() else ""


def _values(kind: str, texts: list[str]) -> list[Any]:
    """One value, unless a field that occurs once in our form came several times."""
    match kind:
        case "-ticks":
            return [[one for one in texts if one]]
        case "-row-":
            return [[_cell(one) for one in texts if one]]
        case "-number":
            return [one if (number := decimals.typed(one)) is None else number for one in texts]
        case "-stars" | "-score":
            return [int(one) if _WHOLE_NUMBER.fullmatch(one) else one for one in texts]
    return texts


def _cell(text: str) -> Any:
    row, between, choice = text.partition(BETWEEN)
    return {"row": row, "choice": choice} if between else text


def _fits(value: str | list[str], question: ItemQuestion) -> bool:
    options: Iterable[str] = question.options
    if question.type == "matrix":
        options = [f"{row}{BETWEEN}{option}" for row in question.details.rows for option in options]
    return not options or all(one in options for one in ([value] if isinstance(value, str) else value))


def _count(form: FormMultiDict, name: str) -> int:
    text = str(form.get(name, ""))
    return int(text) if _WHOLE_NUMBER.fullmatch(text) else 1


def _uuid(text: str) -> UUID:
    uid = uuid_of(text)
    if uid is None:
        raise Invalid(UNREADABLE)
    return uid
