"""Ready-made definitions to begin from, for what is asked most often. An author changes what does not fit. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from app.surveys.authoring.definition import Definition, QuestionDefinition

AGREEMENT: Final = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")
SATISFACTION: Final = ("Very dissatisfied", "Dissatisfied", "Neither", "Satisfied", "Very satisfied")


@dataclass(frozen=True, slots=True)
class Starter:
    """`about` says in one sentence when to use it. The title and message of `definition` hold no name of a company."""

    name: str
    about: str
    definition: Definition


def _asked(label: str, type: str, *options: str, required: bool = False) -> QuestionDefinition:  # noqa: A002 - the field's name
    return QuestionDefinition(None, label, type, options, required)


_RECOMMEND = Starter(
    "Would you recommend us? (eNPS)",
    "One number that shows over time how people feel about working here, and their reason.",
    Definition(
        title="Would you recommend us?",
        type="feedback",
        enforcement="optional",
        category="Working here",
        message="<p>Two questions, one minute.</p>",
        questions=(
            _asked("How likely are you to recommend us as a place to work?", "nps", required=True),
            _asked("What is the main reason for your number?", "free_text"),
        ),
    ),
)
_PULSE = Starter(
    "Pulse in five questions",
    "A short look at workload, support and mood; ask it again every few weeks.",
    Definition(
        title="How is it going?",
        type="feedback",
        enforcement="optional",
        category="Working here",
        message="<p>Five questions about the last weeks. Your answers help us to see what to change first.</p>",
        questions=(
            _asked("I can do my work well within my working hours.", "scale", *AGREEMENT),
            _asked("I know what is expected of me.", "scale", *AGREEMENT),
            _asked("I get help when I need it.", "scale", *AGREEMENT),
            _asked("My work is noticed.", "scale", *AGREEMENT),
            _asked("What should we change first?", "free_text"),
        ),
    ),
)
_EVENT = Starter(
    "Feedback on an event",
    "After a meeting, a training or an outing: what was good, and what to do differently.",
    Definition(
        title="How was the event?",
        type="rating",
        enforcement="optional",
        category="Events",
        message="<p>Thank you for being there. Tell us how it was.</p>",
        questions=(
            _asked("How did you like it?", "star_rating", required=True),
            _asked("How satisfied were you with the organisation?", "scale", *SATISFACTION),
            _asked("What did you like?", "multiple_choice", "Content", "Speakers", "Place", "Food", "Meeting others"),
            _asked("What should we do differently next time?", "free_text"),
        ),
    ),
)
_PHOTOS = Starter(
    "Consent to photos",
    "Asks whether photos of a person may be used, in words to complete before you publish.",
    Definition(
        title="Photos of you",
        type="consent",
        enforcement="optional",
        category="Photos",
        message=(
            "<p>We would like to use photos that show you. Say here <strong>where</strong> they are shown, <strong>for how "
            "long</strong>, and <strong>whom to ask</strong>.</p>\n<p>You decide freely. No answer has a disadvantage for you, and "
            "you can take back an agreement at any time: we then use no new photos of you.</p>"
        ),
        questions=(_asked("I agree that photos of me are used as described above.", "agreement"),),
    ),
)
_POLICY = Starter(
    "Acknowledgement of a policy",
    "Required: each person confirms that they have read a policy.",
    Definition(
        title="Please read: our new policy",
        type="consent",
        enforcement="required",
        category="Policies",
        message=(
            "<p>Write here what the policy says in a few sentences, and link the whole text.</p>\n<p>It applies from the day that "
            "you name here.</p>"
        ),
        questions=(_asked("I have read the policy and follow it.", "agreement"),),
    ),
)
_EXIT = Starter(
    "Exit interview",
    "For people who leave: why, and what would have kept them.",
    Definition(
        title="Before you leave",
        type="feedback",
        enforcement="optional",
        category="Leaving",
        message="<p>We would like to learn from your time with us. All questions are optional.</p>",
        questions=(
            _asked(
                "What is your main reason for leaving?",
                "single_choice",
                *(
                    "Another job",
                    "Pay",
                    "Workload",
                    "Working hours",
                    "My team or manager",
                    "Moving or family",
                    "Retirement",
                ),
                "Another reason",
            ),
            _asked("How satisfied were you with your work overall?", "scale", *SATISFACTION),
            _asked("How likely are you to recommend us as a place to work?", "nps"),
            _asked("What did you like most?", "free_text"),
            _asked("What would have made you stay?", "free_text"),
        ),
    ),
)
# By the word in the address of a new survey.
STARTERS: Final[Mapping[str, Starter]] = MappingProxyType(
    {
        "enps": _RECOMMEND,
        "pulse": _PULSE,
        "event": _EVENT,
        "photos": _PHOTOS,
        "policy": _POLICY,
        "exit": _EXIT,
    }
)
