"""The fields of the editor's form, and what this workspace offers in them. Its questions: editor_questions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from app.languages import LONGEST_TAG
from app.surveys import words
from app.surveys.authoring.definition import Definition
from app.surveys.pages.acts_allowed import limits
from app.surveys.pages.editing import repeating
from app.surveys.pages.editing.repeating import number
from app.surveys.translations import DEFAULT
from app.web.fields import Choice, Choices, LocalTime, Text
from app.web.forms import Form

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
SNOOZE = number("snooze_hours", "Snooze", words.SNOOZE_HOURS, "hours", "How long “Ask me later” lasts.")
COOLDOWN = number(
    "cooldown_days", "Cooldown", words.COOLDOWN_DAYS, "days", "Between two prompts of this survey; 0 = none."
)
MOST_PROMPTS = number("max_prompts", "Max prompts", words.MAX_PROMPTS, "times", "Per person and version; 0 = no limit.")
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
