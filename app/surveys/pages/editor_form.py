"""The editor's form: reads what a browser posts into a definition, with every error at its field. Questions:
editor_questions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from litestar.datastructures import FormMultiDict

from app.errors import FieldError
from app.languages import LONGEST_TAG
from app.surveys import words
from app.surveys.authoring import content, differences
from app.surveys.authoring.definition import Definition, problems, tidy
from app.surveys.authoring.translating import with_translations
from app.surveys.authoring.typed import typed_message
from app.surveys.pages import editor_questions
from app.surveys.pages.acts_allowed import limits
from app.surveys.pages.editing import repeating
from app.surveys.pages.editor_questions import Row
from app.surveys.translations import DEFAULT
from app.texts import trimmed, whole
from app.web.forms import Bound, Choice, Choices, Form, LocalTime, Number, Text

PACING: Final = ("snooze_hours", "cooldown_days", "max_prompts")
WINDOW: Final = ("starts_at", "ends_at")
TITLE = Text("title", "Title", required=True, longest=words.LONGEST_TITLE, help="The heading of the prompt.")
TYPE = Choice(
    "type",
    "Type",
    required=True,
    options=words.TYPES,
    help="Says what the survey is about. It changes nothing in how it is asked.",
)
MESSAGE = Text(
    "message",
    "Message",
    longest=words.LONGEST_MESSAGE,
    lines=6,
    help="What people read above the questions. For a consent this is what is agreed to. A blank line begins a paragraph; basic HTML works, too.",
)
CLOSING = Text(
    "closing_html",
    "Closing words",
    longest=words.LONGEST_MESSAGE,
    lines=3,
    help="Shown after an answer was recorded, for example what happens next. The same HTML as in the message.",
)
ANONYMITY = Choice(
    "anonymity",
    "Anonymity",
    options=words.ANONYMITIES,
    help="Anonymous answers are kept apart from names, and shown once the survey is over and five people have answered.",
)
SPLIT = Choice(
    "split",
    "Split",
    options={"": "No split", **words.SPLITS},
    help="Anonymous surveys only: what an answer keeps of its person. Small groups are shown together.",
)
CATEGORY = Text("category", "Category", longest=words.LONGEST_CATEGORY, help="What it is about: Canteen, Safety …")
LANGUAGE = Text(
    "language",
    "Language",
    longest=LONGEST_TAG,
    help="The language of these texts, as a tag: en, de, pt-BR. Other languages are translated on a page of their own.",
)
SNOOZE = Number(
    "snooze_hours",
    "Snooze",
    least=words.SNOOZE_HOURS[0],
    most=words.SNOOZE_HOURS[1],
    unit="hours",
    help="How long “Ask me later” lasts.",
)
COOLDOWN = Number(
    "cooldown_days",
    "Cooldown",
    least=words.COOLDOWN_DAYS[0],
    most=words.COOLDOWN_DAYS[1],
    unit="days",
    help="Between two prompts of this survey; 0 = none.",
)
MOST_PROMPTS = Number(
    "max_prompts",
    "Max prompts",
    least=words.MAX_PROMPTS[0],
    most=words.MAX_PROMPTS[1],
    unit="times",
    help="Per person and version; 0 = no limit.",
)
NEW: Final = {
    "type": "feedback",
    "enforcement": "optional",
    "language": DEFAULT,
    "anonymity": "named",
    "snooze_hours": words.DEFAULT_SNOOZE_HOURS,
    "cooldown_days": words.DEFAULT_COOLDOWN_DAYS,
    "max_prompts": words.DEFAULT_MAX_PROMPTS,
}


@dataclass(frozen=True, slots=True)
class Offered:
    """What this workspace's form offers. `tenants` is None for a tenant's survey, which asks its own people only.
    `categories` are those of its surveys. `fixed`: the survey was published, so who may know its answers can't
    change."""

    types: Mapping[str, str]
    tenants: Mapping[str, str] | None
    ceiling: str
    categories: tuple[str, ...] = ()
    fixed: Definition | None = None

    @property
    def names(self) -> words.Names:
        return words.Names(self.types, self.tenants or {})

    @property
    def form(self) -> Form:
        kinds = {word: label for word, label in words.ENFORCEMENTS.items() if not limits(self.ceiling, word)}
        audience = [Choices("user_types", "User types", help="Tick nothing for everyone.", options=self.types)]
        if self.tenants is not None:
            help_ = "Tick nothing for everyone, here and in every tenant."
            audience.append(Choices("tenants", "Tenants", help=help_, options=self.tenants))
        return Form(
            TITLE,
            TYPE,
            Choice("enforcement", "Enforcement", required=True, options=kinds),
            MESSAGE,
            CLOSING,
            *self._anonymity,
            CATEGORY,
            LANGUAGE,
            *audience,
            LocalTime("starts_at", "Starts"),
            LocalTime("ends_at", "Ends"),
            SNOOZE,
            COOLDOWN,
            MOST_PROMPTS,
            *repeating.FIELDS,
        )

    @property
    def _anonymity(self) -> tuple[Choice, Choice]:
        """For a published survey only the present option."""
        kinds, groups = (dict(one.options) for one in (ANONYMITY, SPLIT))
        if self.tenants is None:
            del groups["tenant"]
        if self.fixed:
            kinds, groups = (
                {key: each[key]} for each, key in ((kinds, self.fixed.anonymity), (groups, self.fixed.split or ""))
            )
        return replace(ANONYMITY, options=kinds), replace(SPLIT, options=groups)

    def including(self, definition: Definition) -> "Offered":
        """With the types and tenants that the survey has already, even if the lists lost them: no filter becomes
        empty."""
        gone = {key: f"{key} (no longer in the list)" for key in definition.user_types}
        lost = {key: f"{key} (no longer a tenant)" for key in definition.tenants}
        tenants = None if self.tenants is None else {**lost, **self.tenants}
        return replace(self, types={**gone, **self.types}, tenants=tenants)


@dataclass
class Draft:
    """The form as typed. `revision` is that of the survey from which the person began, None for a new one;
    `about_questions` is what is wrong with the questions as a whole; `contested` are the fields that somebody else
    changed meanwhile, too."""

    form: Bound
    rows: list[Row]
    definition: Definition
    revision: int | None = None
    about_questions: str = ""
    stripped: tuple[str, ...] = ()
    focus: str = ""
    unsaved: bool = True
    contested: frozenset[str] = frozenset()
    summary: list[tuple[str, str]] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.summary

    def forgive(self) -> None:
        """Removes the errors, when nothing was to be saved."""
        self.form.errors.clear()
        self.about_questions = ""
        for row in self.rows:
            row.errors.clear()
        self.summary = []

    def refuse(self, details: Iterable[FieldError]) -> None:
        """Puts errors at their fields; the first of a field stays."""
        kept = editor_questions.live(self.rows)
        for detail in details:
            head, *rest = detail.field.split(".")
            if head != "questions":
                self.form.refuse(repeating.field_of(detail.field), detail.message)
            elif rest and int(rest[0]) < len(kept):
                part = rest[1] if len(rest) > 1 else "label"
                kept[int(rest[0])].errors.setdefault(part, detail.message)
            else:
                self.about_questions = self.about_questions or detail.message
        self.summary = self._summary()

    def _summary(self) -> list[tuple[str, str]]:
        """Every error with its field: first those of the form, then those of its questions."""
        whole = [("questions", f"Questions: {self.about_questions}")] if self.about_questions else []
        asked = [
            (f"{part}-{row.name}", f"Question {number}: {text}")
            for number, row in enumerate(editor_questions.live(self.rows), 1)
            for part, text in row.errors.items()
        ]
        return self.form.summary + whole + asked


def blank(offered: Offered) -> Draft:
    """A new survey, with one question to begin with."""
    form = offered.form.fill(NEW)
    rows = [Row("q1")]
    return Draft(form, rows, _definition(form, rows, ()), unsaved=False)


def filled(offered: Offered, definition: Definition, revision: int | None) -> Draft:
    """A saved survey as the page first shows it; without a revision, a survey to begin from."""
    shown = {name: getattr(definition, name, None) for name in offered.form.fields} | repeating.shown(definition.repeat)
    shown |= {name: at.astimezone(UTC) for name in WINDOW if (at := getattr(definition, name))}
    paced = {name: shown[name] if shown[name] is not None else NEW[name] for name in PACING}
    form = offered.form.fill({**shown, **paced})
    rows = editor_questions.show(definition.questions)
    return Draft(form, rows, definition, revision, unsaved=False)


def merged(offered: Offered, draft: Draft, then: Definition, now: Definition, revision: int) -> Draft:
    """The draft over what somebody else saved since `then`: the fields that the author did not change show the new
    values."""
    definition, contested = differences.merge(then, draft.definition, now)
    shown = filled(offered, definition, revision)
    rows = shown.rows if definition.questions == now.questions else draft.rows
    return Draft(shown.form, rows, definition, revision, stripped=draft.stripped, contested=contested)


def read(offered: Offered, posted: FormMultiDict, stored: Definition | None = None) -> Draft:
    """What was typed, with its errors. An unchanged message keeps its bytes, and unchanged times keep what the form
    can't show."""
    form, rows = offered.form.read(posted), editor_questions.read(posted)
    tenants = tuple(str(key) for key in posted.getall("tenants", []))
    typed = _definition(form, rows, tenants)
    typed = replace(
        typed,
        message=_marked_up(typed.message, stored.message if stored else ""),
        closing_html=_marked_up(typed.closing_html, stored.closing_html if stored else ""),
    )
    for name in WINDOW:
        before = getattr(stored, name) if stored else None
        if before and getattr(typed, name) == before.replace(microsecond=0):
            typed = replace(typed, **{name: before})
    if stored:
        typed = with_translations(typed, stored)
    draft = Draft(form, rows, tidy(typed), whole(str(posted.get("revision") or ""), 9))
    draft.stripped = (
        *_stripped(typed.message),
        *(f"{one} in the closing words" for one in _stripped(typed.closing_html)),
    )
    repeating.ask_for_the_first_day(form)
    draft.refuse(problems(draft.definition))
    return draft


def _marked_up(text: str, before: str) -> str:
    """What was typed as markup; an unchanged text stays as it is."""
    return text if trimmed(text) == before else typed_message(text)


def _definition(form: Bound, rows: Iterable[Row], tenants: tuple[str, ...]) -> Definition:
    """What the form means so far; a field with an error counts as empty. In a tenant's form every tenant is refused by
    name."""
    values: dict[str, Any] = {name: form.values.get(name) for name in form.fields}
    paces: dict[str, Any] = {name: values[name] for name in PACING}
    at: dict[str, Any] = {
        name: values[name].replace(tzinfo=UTC) if isinstance(values[name], datetime) else None for name in WINDOW
    }
    return Definition(
        title=values["title"] or "",
        type=values["type"] or "",
        enforcement=values["enforcement"] or "",
        message=values["message"] or "",
        closing_html=values["closing_html"] or "",
        anonymity=values["anonymity"] or "named",
        split=(values["split"] or None) if values["anonymity"] == "anonymous" else None,
        category=values["category"],
        user_types=tuple(values["user_types"] or ()),
        tenants=tuple(values["tenants"] or ()) if "tenants" in form.fields else tenants,
        questions=editor_questions.questions(rows),
        language=values["language"] or DEFAULT,
        repeat=repeating.read(values),
        remind_days=values["remind_days"],
        **at,
        **paces,
    )


def _stripped(text: str) -> tuple[str, ...]:
    """What saving removes from the message or the closing words."""
    if content.too_much_to_read(text) or content.unkeepable(text):
        return ()
    return content.sanitise(text).stripped
