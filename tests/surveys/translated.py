"""A survey in English with German, and Arabic where little is translated, for tests."""

from typing import Any

from app.surveys.authoring.definition import Definition, QuestionDefinition, checked
from app.surveys.question_details import Condition, QuestionDetails
from app.surveys.translations import QuestionTexts, SurveyTexts

CHOICE = QuestionDefinition(
    None,
    "How was lunch?",
    "single_choice",
    ("Good", "Bad", "Gift"),
    required=True,
    # In German, "Gift" is poison: a text of another language must never be taken for the own option of that name.
    translations={"de": QuestionTexts("Wie war das Essen?", ("Gut", "Schlecht", "Geschenk"))},
)
TICKS = QuestionDefinition(
    None,
    "What did you eat?",
    "multiple_choice",
    ("Soup", "Cake", "Bread"),
    translations={
        "ar": QuestionTexts("ماذا أكلت؟"),
        "de": QuestionTexts("Was hast du gegessen?", ("Suppe", "Kuchen", "Brot")),
    },
)
STARS = QuestionDefinition(
    None,
    "All in all",
    "star_rating",
    details=QuestionDetails(low_label="bad", high_label="good"),
    translations={"de": QuestionTexts(low_label="schlecht", high_label="gut")},
)
ROWS = QuestionDefinition(
    None,
    "The room",
    "matrix",
    ("often", "never"),
    details=QuestionDetails(rows=("Loud", "Cold")),
    translations={"de": QuestionTexts("Der Raum", ("oft", "nie"), rows=("Laut", "Kalt"))},
)
WHY = QuestionDefinition(
    None,
    "Why?",
    "free_text",
    details=QuestionDetails(show_if=Condition(1, ("Bad", "Gift"))),
    translations={"de": QuestionTexts("Warum?")},
)
QUESTIONS = (CHOICE, TICKS, STARS, ROWS, WHY)
TEXTS = {
    "ar": SurveyTexts("الغداء"),
    "de": SurveyTexts("Mittagessen", "<p>Nur eine Minute.</p>", "<p>Danke!</p>"),
}


def translated(**changed: Any) -> Definition:
    """A checked definition."""
    fields: dict[str, Any] = {
        "title": "Lunch",
        "type": "feedback",
        "enforcement": "optional",
        "message": "<p>One minute.</p>",
        "closing_html": "<p>Thanks!</p>",
        "questions": QUESTIONS,
        "translations": TEXTS,
    }
    return checked(Definition(**{**fields, **changed}))
