"""The fixed words of surveys, their labels, and the limits of every field. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.wording.marked import marked

TYPES = {"rating": "Rating", "consent": "Consent", "poll": "Poll", "feedback": "Feedback"}
ENFORCEMENTS = {"optional": "Optional", "required": "Required"}
ANONYMITIES = {"named": "Named", "anonymous": "Anonymous"}
# What people read before they answer an anonymous survey, and then what an answer keeps of them if the survey has a
# split.
ANONYMOUS_PROMISE = marked(
    "Your answers are kept apart from your name. They are shown only after the survey has ended, and only if at least five people"
    " answered. That you took part is kept with your name, the time, your network address and your browser. If everybody gives"
    " the same answer, it is known as yours, too. People who run the server could link answers to names while the survey runs,"
    " and later with its backups and logs."
)
SPLIT_PROMISES = {
    "type": marked("Your answers keep your user type; groups of fewer than five people are shown together."),
    "tenant": marked("Your answers keep your company; groups of fewer than five people are shown together."),
    "department": marked("Your answers keep your department; groups of fewer than five people are shown together."),
}
# The kinds of groups into which answers can be split.
SPLITS = {"type": "User type", "tenant": "Tenant", "department": "Department"}
# How the figures of surveys that are not anonymous can be split: an anonymous one stores no language.
SHOWN_BY = {**SPLITS, "language": "Language"}
STATUSES = {"draft": "Draft", "published": "Published", "archived": "Archived"}
# What a response stands at. The ledger records all but `withdrawn`, which is an agreement whose last change withdrew
# it.
OUTCOMES = {
    "answered": "Answered",
    "agreed": "Agreed",
    "declined": "Declined",
    "withdrawn": "Withdrawn",
    "opted_out": "Opted out",
}
ACTIONS = ("answer", "agree", "decline", "snooze", "opt_out")
# What an action writes into the ledger; a snooze writes nothing there.
OUTCOME_OF = {"answer": "answered", "agree": "agreed", "decline": "declined", "opt_out": "opted_out"}
CHANGES = {"withdrawn": "Withdrawn", "agreed_again": "Agreed again"}
# What a change of an agreement does, by its turn modulo 2: the first withdraws, the second agrees again, and so on.
KIND_AFTER = ("agreed_again", "withdrawn")
# How far a survey came to a person before they said something. An entry of the ledger can say the first three. The last
# one stands for entries that only say `prompted`, and for an app that may have had the survey before anybody noted it.
Shown = Literal["first", "in_queue", "not_handed_out", "not_known"]
SHOWN = {
    "first": "First in the queue",
    "in_queue": "In the queue, behind another survey",
    "not_handed_out": "Not handed out",
    "not_known": "Not known",
}
SOURCES = {"web": "Web", "api": "API", "demo": "Demo"}

# Characters are code points of text in NFC.
LONGEST_TITLE = 200
LONGEST_MESSAGE = 20_000
LONGEST_CATEGORY = 100
LONGEST_LABEL = 1000
LONGEST_OPTION = 200
LONGEST_END = 100
LONGEST_UNIT = 20
MOST_OPTIONS = 50
FEWEST_OPTIONS = 2
MOST_QUESTIONS = 50
LONGEST_TEXT = 5000
SNOOZE_HOURS = (1, 720)
COOLDOWN_DAYS = (0, 365)
MAX_PROMPTS = (0, 100)
DEFAULT_SNOOZE_HOURS = 24
DEFAULT_COOLDOWN_DAYS = 1
DEFAULT_MAX_PROMPTS = 5
# After so many days people who have not answered are reminded, and once more after as many days again.
REMIND_DAYS = (1, 90)
MOST_STARS = 5
MOST_NPS = 10
MOST_IN_QUEUE = 5


@dataclass(frozen=True, slots=True)
class Names:
    """What people call the user types and workspaces of an audience, by their keys. A key without a name is shown
    itself."""

    types: Mapping[str, str] = field(default_factory=dict)
    workspaces: Mapping[str, str] = field(default_factory=dict)

    def of_types(self, keys: Iterable[str], between: str = ", ") -> str:
        return between.join(self.types.get(key, key) for key in keys)

    def of_workspaces(self, keys: Iterable[str], between: str = ", ") -> str:
        return between.join(self.workspaces.get(key, key) for key in keys)


BARE_KEYS = Names()
