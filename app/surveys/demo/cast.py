"""What the demo is made of: invented people, surveys of all four types, apps and remarks. Pure."""

from dataclasses import dataclass
from typing import Final

from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.question_details import Condition, QuestionDetails

DOMAIN: Final = "demo.example.org"
_FIRST: Final = (
    "Ada", "Bruno", "Clara", "Dario", "Edda", "Farid", "Greta", "Hugo", "Iris", "Jonas", "Kira", "Levi", "Mina", "Nils",
    "Orla", "Pavel", "Quinn", "Rosa", "Sami", "Tilda",
)  # fmt: skip
_LAST: Final = (
    "Tickwell", "Sundial", "Hourglass", "Pendula", "Chimes", "Nightshift", "Earlybird", "Punchley", "Rosterman", "Breaker",
    "Overtime", "Latecomb",
)  # fmt: skip
_KINDS: Final = ("employee", "employee", "staff", "employee", "client", "employee", "staff", "employee")


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """An invented account without a password, which never signs in."""

    name: str
    email: str
    kind: str


def people(number: int, workspace: str) -> list[DemoPerson]:
    """The first `number` invented people of a workspace; there are 240."""
    pairs = [(first, last) for last in _LAST for first in _FIRST][:number]
    return [
        DemoPerson(f"{first} {last}", f"{first}.{last}.{workspace}@{DOMAIN}".lower(), _KINDS[place % len(_KINDS)])
        for place, (first, last) in enumerate(pairs)
    ]


@dataclass(frozen=True, slots=True)
class DemoSurvey:
    """A survey and its life, in days before the demo is made: when each version was published, until when people
    answered it, and which share of the people asked did. `weights` prefers some options of a question; `declined` and
    `opted_out` are shares of the responses. `pending`: the people who sign in have not answered it yet. `shares` are
    those of single user types. `drift` has weights of the first question for each version, and `withdrawn` is how many
    people withdraw their agreement."""

    definition: Definition
    published: tuple[float, ...] = ()
    answered_until: tuple[float, ...] = ()
    share: float = 0.0
    shares: tuple[tuple[str, float], ...] = ()
    weights: tuple[tuple[int, ...], ...] = ()
    drift: tuple[tuple[int, ...], ...] = ()
    withdrawn: int = 0
    declined: float = 0.0
    opted_out: float = 0.03
    archived: bool = False
    pending: bool = False


WEEK: Final = DemoSurvey(
    Definition(
        title="How was your week?",
        type="rating",
        enforcement="optional",
        message="<p>One click, and a sentence if you like. <strong>Nobody is judged by it.</strong></p>",
        category="Work",
        user_types=("employee", "staff", "admin"),
        questions=(
            QuestionDefinition(None, "Your week, all in all", "star_rating", required=True),
            QuestionDefinition(None, "What would have made it better?", "free_text"),
        ),
    ),
    published=(85,),
    answered_until=(0.2,),
    share=0.8,
    weights=((4, 8, 20, 40, 28), ()),
)
PHOTOS: Final = DemoSurvey(
    Definition(
        title="Photos at the summer fair",
        type="consent",
        enforcement="optional",
        message=(
            "<p>We would like to show pictures of the fair on the intranet.</p><ul><li>No names stand under them.</li>"
            "<li>You can take your word back at any time, on the page <em>My answers</em>.</li></ul>"
        ),
        category="Events",
        questions=(QuestionDefinition(None, "You may show pictures in which I can be recognised.", "agreement"),),
    ),
    published=(70,),
    answered_until=(3,),
    share=0.75,
    declined=0.22,
    withdrawn=2,
)
PARTY: Final = DemoSurvey(
    Definition(
        title="The winter party",
        type="poll",
        enforcement="optional",
        message="<p>It is going to be in December. Help us with <em>when</em> and <em>what</em>.</p>",
        category="Events",
        questions=(
            QuestionDefinition(None, "Which day suits you best?", "single_choice", ("Thursday", "Friday", "Saturday"), required=True),
            QuestionDefinition(None, "What should there be?", "multiple_choice", ("Soup", "Dumplings", "Salads", "Cake", "Music")),
        ),
    ),
    published=(60,),
    answered_until=(31,),
    share=0.7,
    weights=((25, 55, 20), (20, 30, 15, 25, 40)),
    archived=True,
)  # fmt: skip
CANTEEN: Final = DemoSurvey(
    Definition(
        title="The canteen",
        type="feedback",
        enforcement="optional",
        message="<p>The kitchen reads every word.</p>",
        category="Canteen",
        user_types=("employee", "staff", "admin"),
        questions=(
            QuestionDefinition(
                None, "How do you like the food?", "scale", ("Not at all", "So-so", "Fine", "Good", "Very good"), required=True
            ),
            QuestionDefinition(None, "How often do you eat there?", "single_choice", ("Every day", "Some days", "Hardly ever")),
            QuestionDefinition(None, "A wish for the kitchen?", "free_text"),
        ),
    ),
    published=(80, 30),
    answered_until=(35, 0.5),
    share=0.72,
    weights=((6, 14, 30, 34, 16), (30, 50, 20), ()),
)  # fmt: skip
PRIVACY: Final = DemoSurvey(
    Definition(
        title="How we use your data",
        type="consent",
        enforcement="required",
        message=(
            "<p>The notice has changed: terminals no longer keep templates, and punches are deleted after the time that the law"
            " sets.</p><p>Please read it and say whether you agree.</p>"
        ),
        category="Privacy",
        questions=(
            QuestionDefinition(None, "I have read the notice and agree to it.", "agreement"),
            QuestionDefinition(None, "Is something unclear?", "free_text"),
        ),
    ),
    published=(50,),
    answered_until=(1,),
    share=0.95,
    declined=0.04,
    weights=((), ()),
)
PORTAL: Final = DemoSurvey(
    Definition(
        title="Is this portal easy to use?",
        type="feedback",
        enforcement="optional",
        message="<p>You have clicked through it for a while. Three questions, half a minute.</p>",
        category="Muster",
        questions=(
            QuestionDefinition(
                None, "How easy was it to find what you were looking for?", "star_rating", required=True
            ),
            QuestionDefinition(
                None, "Which page do you use most?", "single_choice", ("Attendance", "Time clock", "Surveys")
            ),
            QuestionDefinition(None, "What got in your way?", "free_text"),
        ),
    ),
    published=(4,),
    answered_until=(0.1,),
    share=0.3,
    weights=((3, 7, 20, 40, 30), (50, 35, 15), ()),
    pending=True,
)
# Two surveys ask it: new people once, everybody every month.
RECOMMEND: Final = QuestionDefinition(
    None, "How likely are you to recommend us as a place to work?", "nps", required=True,
    details=QuestionDetails(low_label="Not at all", high_label="Very likely"),
)  # fmt: skip
ARRIVAL: Final = DemoSurvey(
    Definition(
        title="Your first weeks here",
        type="feedback",
        enforcement="optional",
        message="<p>You have been here for a while. How was the beginning?</p>",
        closing_html="<p>Thank you. The people office reads every answer, and calls you where you asked for something.</p>",
        category="Work",
        user_types=("employee", "staff"),
        questions=(
            RECOMMEND,
            QuestionDefinition(
                None, "What is missing?", "free_text",
                details=QuestionDetails(show_if=Condition(1, tuple(range(7)))),
            ),
            QuestionDefinition(
                None, "What do you tell your friends about us?", "free_text",
                details=QuestionDetails(show_if=Condition(1, (9, 10))),
            ),
            QuestionDefinition(
                None, "How well were you prepared?", "matrix", ("Not at all", "Partly", "Well"),
                details=QuestionDetails(rows=("My place of work", "My tools", "My introduction"), page=True),
            ),
            QuestionDefinition(
                None, "How long did your introduction take?", "number",
                details=QuestionDetails(min=0, max=60, unit="days"),
            ),
        ),
    ),
    published=(45,),
    answered_until=(0.3,),
    share=0.6,
    weights=((1, 1, 2, 2, 3, 6, 8, 14, 22, 22, 19), (), (), (10, 30, 60), (1, 3, 8, 10, 9, 14, 6, 4, 2, 2)),
)  # fmt: skip
REMOTE: Final = DemoSurvey(
    Definition(
        title="Working from home next year",
        type="poll",
        enforcement="optional",
        message="<p>Still being written.</p>",
        category="Work",
        questions=(
            QuestionDefinition(
                None, "How many days a week?", "single_choice", ("None", "One", "Two", "Three or more"), required=True
            ),
        ),
    ),
)
SHIFTS: Final = DemoSurvey(
    Definition(
        title="Swapping shifts by yourself",
        type="poll",
        enforcement="optional",
        message="<p>Should two people be able to swap a shift without asking anybody?</p>",
        category="Shifts",
        questions=(
            QuestionDefinition(
                None, "What do you say?", "single_choice", ("Yes", "With a day's notice", "No"), required=True
            ),
            QuestionDefinition(None, "Why?", "free_text"),
        ),
    ),
    published=(40,),
    answered_until=(1,),
    share=0.8,
    weights=((45, 40, 15), ()),
)
TEAM: Final = DemoSurvey(
    Definition(
        title="A photo on your profile",
        type="consent",
        enforcement="optional",
        message="<p>Colleagues at other sites would like to see whom they write to.</p>",
        category="Privacy",
        questions=(QuestionDefinition(None, "My photo may be shown inside the company.", "agreement"),),
    ),
    published=(25,),
    answered_until=(0.5,),
    share=0.7,
    declined=0.3,
)
REMARKS: Final = (
    "Fewer meetings before nine, please.",
    "The new roster came out late again.",
    "Nothing to add, it was fine.",
    "A quiet corner for the night shift would be lovely.",
    "More soup when it is cold!",
    "Thank you for asking.",
    "The door reader at the yard is slow.",
    "Wenn's geht: mehr Gemüse 🙂",
    "I could not find my overtime at first.",
    "Please keep it as it is.",
)


@dataclass(frozen=True, slots=True)
class DemoApp:
    name: str
    platforms: tuple[str, ...]
    description: str
    stars: tuple[int, ...] = ()
    admin_restricted: bool = False
    published: bool = True


APPS: Final = (
    DemoApp("Clocky", ("ios", "android"), "Clock in and out from a phone.", (4, 6, 15, 40, 35)),
    DemoApp("Pocket Payslip", ("ios", "android", "web"), "Payslips, and nothing else.", (10, 15, 25, 30, 20)),
    DemoApp("Shift Board", ("web",), "Who works when.", (2, 5, 18, 35, 40)),
    DemoApp("Roster Console", ("web",), "For planners alone.", admin_restricted=True),
    DemoApp("Route Planner", ("ios", "android"), "Not out yet.", published=False),
)
APP_REMARKS: Final = ("Starts quickly.", "Crashed once on my old phone.", "Dark mode, please!", "Does what it should.")
