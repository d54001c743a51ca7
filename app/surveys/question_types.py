"""The types of questions: their labels, and what each may have. Pure.

A new type also needs its value in ledger/answers.py, its figures in results/kinds.py and results/breakdowns.py, its
details in authoring/detail_rules.py, its word in api/queue_rows.py, and its field in
templates/components/prompt_question.html.
"""

QUESTION_TYPES = {
    "agreement": "Agreement",
    "star_rating": "Star rating",
    "scale": "Scale",
    "single_choice": "Single choice",
    "multiple_choice": "Multiple choice",
    "free_text": "Free text",
    "nps": "Net promoter score",
    "number": "Number",
    "date": "Date",
    "matrix": "Matrix",
}
# An app gets a survey with one of these only if it says that it can show them.
NEW_QUESTION_TYPES = ("nps", "number", "date", "matrix")
WITH_OPTIONS = frozenset({"scale", "single_choice", "multiple_choice", "matrix"})
# An author may give words for both ends of these.
WITH_ENDS = frozenset({"star_rating", "scale", "nps"})
# A condition may name these: their answers are a few values that an author can list.
WITH_VALUES = frozenset({"star_rating", "scale", "single_choice", "multiple_choice", "nps"})
