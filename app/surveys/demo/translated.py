"""The demo's survey in three languages, and in which of them people read it. Pure."""

from typing import Final

from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.demo.cast import DemoSurvey
from app.surveys.question_details import Condition, QuestionDetails
from app.surveys.translations import QuestionTexts, SurveyTexts

# In which language people read it; most read its own.
READ_IN: Final = {"en": 60, "de": 25, "ar": 15}
SAFETY: Final = DemoSurvey(
    Definition(
        title="Safe at work",
        type="feedback",
        enforcement="optional",
        message="<p>Two minutes for your safety. <strong>Answer in the language that you like best.</strong></p>",
        closing_html="<p>Thank you. We repair what you name within a week.</p>",
        category="Safety",
        user_types=("employee", "staff"),
        language="en",
        translations={
            "ar": SurveyTexts(
                "السلامة في العمل",
                "<p>دقيقتان من أجل سلامتك. <strong>أجب باللغة التي تفضّلها.</strong></p>",
                "<p>شكرًا لك. نُصلح ما تذكره خلال أسبوع.</p>",
            ),
            "de": SurveyTexts(
                "Sicher bei der Arbeit",
                "<p>Zwei Minuten für deine Sicherheit. <strong>Antworte in der Sprache, die du am liebsten sprichst.</strong></p>",
                "<p>Danke. Was du nennst, reparieren wir innerhalb einer Woche.</p>",
            ),
        },
        questions=(
            QuestionDefinition(
                None,
                "Do you feel safe at your place of work?",
                "single_choice",
                ("Always", "Mostly", "Rarely"),
                required=True,
                translations={
                    "ar": QuestionTexts("هل تشعر بالأمان في مكان عملك؟", ("دائمًا", "غالبًا", "نادرًا")),
                    "de": QuestionTexts(
                        "Fühlst du dich an deinem Arbeitsplatz sicher?", ("Immer", "Meistens", "Selten")
                    ),
                },
            ),
            QuestionDefinition(
                None,
                "What needs repair?",
                "multiple_choice",
                ("Light", "Floor", "Doors", "Machines"),
                details=QuestionDetails(show_if=Condition(1, ("Mostly", "Rarely"))),
                translations={
                    "ar": QuestionTexts("ما الذي يحتاج إلى إصلاح؟", ("الإضاءة", "الأرضية", "الأبواب", "الآلات")),
                    "de": QuestionTexts("Was muss repariert werden?", ("Licht", "Boden", "Türen", "Maschinen")),
                },
            ),
            QuestionDefinition(
                None,
                "How easy is it to get protective clothing?",
                "star_rating",
                details=QuestionDetails(low_label="hard", high_label="easy"),
                translations={
                    "ar": QuestionTexts("ما مدى سهولة الحصول على ملابس واقية؟", low_label="صعب", high_label="سهل"),
                    "de": QuestionTexts(
                        "Wie leicht bekommst du Schutzkleidung?", low_label="schwer", high_label="leicht"
                    ),
                },
            ),
            QuestionDefinition(
                None,
                "Anything else?",
                "free_text",
                translations={"ar": QuestionTexts("هل هناك شيء آخر؟"), "de": QuestionTexts("Sonst noch etwas?")},
            ),
        ),
    ),
    published=(35,),
    answered_until=(0.4,),
    share=0.65,
    weights=((45, 40, 15), (40, 25, 15, 20), (5, 10, 25, 35, 25), ()),
)
