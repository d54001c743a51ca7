"""Ten surveys that use nothing new, and the content hashes that the version before question details gave them.

A hash that changes here would break what people agreed to: their receipts, and the words that the ledger holds.
"""

import pytest

from app.surveys.authoring.definition import Definition, QuestionDefinition, checked

Q = QuestionDefinition


def survey(title: str, kind: str, enforcement: str, message: str, *questions: QuestionDefinition) -> Definition:
    return checked(Definition(title=title, type=kind, enforcement=enforcement, message=message, questions=questions))


OLD = [
    (survey("Lunch", "feedback", "optional", ""), "f5170b64c2d453fa278fd69635f51d41b55cff960e3940d8929852d9b47d70a0"),
    (survey("Lunch", "feedback", "optional", "", Q(None, "How was it?", "free_text")), "4b9e345dde8058a8c0c31fb3f9d3a912db702baafd835e540ed6b902d40c4dbb"),
    (survey("The week", "rating", "optional", "<p>One click.</p>", Q(None, "All in all", "star_rating", required=True)), "2032fbf87278b0658412c5f9a18a624932f31157344c570fd22524bb03cccb1a"),
    (
        survey("Privacy", "consent", "required", "<p>Read <strong>this</strong>.</p>", Q(None, "I agree.", "agreement")),
        "0848df96fc8290f9e0db9a9139a69f31cbe34981f7d7abb3c317077737979c1a",
    ),
    (
        survey(
            "Photos", "consent", "optional", "", Q(None, "You may show me.", "agreement"), Q(None, "Why?", "free_text")
        ),
        "2505ff8acb22a405190f268c6a464852ddaf57990cd3bc5b87041910092271e2",
    ),
    (
        survey(
            "Winter party",
            "poll",
            "required",
            "When, and <em>what</em>?",
            Q(None, "Which day?", "single_choice", ("Thursday", "Friday"), required=True),
            Q(None, "What else?", "multiple_choice", ("Soup", "Cake", "Music")),
        ),
        "86d2f145c0faf2b2f9ceea44a009a265bb387c2b5bf32773f4eac77b1f2395e8",
    ),
    (
        survey(
            "Kantine", "feedback", "optional", "Wie geht's?", Q(None, "Wie schmeckt's?", "scale", ("gar nicht", "naja", "süß"))
        ),
        "4f99b1fca5a559b0d198838d4325f175a806c6921bd35538cb1218ea32a0ee35",
    ),
    (
        survey("調査 🍲", "poll", "optional", "日本語 עברית", Q(None, "Cafe\u0301?", "single_choice", ("é", "€", "😀"))),
        "ea1bc944128341a5897356e74a186b7588205547fabad6a6cda894fbaf93ede8",
    ),
    (
        survey(
            'Quotes " and \\ back',
            "rating",
            "required",
            '<a href="https://example.org/?a=1&b=2">link</a>',
            Q(None, "Two\nlines\tand a tab", "free_text", required=True),
            Q(None, "\u2028 and \u00a0", "scale", ("1", "2", "3", "4", "5")),
        ),
        "283808fc2ccf21226023395507aaa3c29087a657acc5e43586a6c5f2e4d26cc1",
    ),
    (
        survey(
            "Everything",
            "feedback",
            "required",
            "<ul><li>a</li></ul>",
            Q(None, "I agree.", "agreement"),
            Q(None, "Stars?", "star_rating"),
            Q(None, "How much?", "scale", ("little", "much"), required=True),
            Q(None, "Which?", "single_choice", ("soup", "salad")),
            Q(None, "What all?", "multiple_choice", ("rice", "bread", "beans")),
            Q(None, "Why?", "free_text"),
        ),
        "9afe68999df9846a45ce7d4c4502200be3c4c8987aafb79b245c409c8bc5b4f5",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("definition", "content_hash"), OLD, ids=lambda one: getattr(one, "title", ""))
def test_a_survey_that_uses_nothing_new_keeps_its_content_hash(definition: Definition, content_hash: str) -> None:
    assert definition.content_hash == content_hash
