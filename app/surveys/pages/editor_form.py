"""The editor's form: reads what a browser posts into a definition, with every error at its field.

Its fields: editing/fields.py. Its questions: editor_questions.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from litestar.datastructures import FormMultiDict

from app.errors import FieldError
from app.surveys.authoring import content, differences
from app.surveys.authoring.definition import Definition, problems, tidy
from app.surveys.authoring.translating import with_translations
from app.surveys.authoring.typed import typed_message
from app.surveys.pages import editor_questions
from app.surveys.pages.editing import repeating
from app.surveys.pages.editing.fields import NEW, PACING, WINDOW, Offered
from app.surveys.pages.editor_questions import Row
from app.surveys.translations import DEFAULT
from app.texts import trimmed, whole
from app.web.forms import Bound


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
