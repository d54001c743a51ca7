"""The tables of surveys, in every workspace. No query here.

The ledger is `survey_responses` and `survey_changes`, one chain, with the projection `survey_answers` and the wordings
they refer to: append-only by grant and by trigger. What figures count of it is derived and can be rebuilt at any time
(`survey_tallies`).
"""

from app.surveys.models.asking import Invitation, LanguageShown, PromptState
from app.surveys.models.definitions import Question, Survey, SurveyRound, Wording
from app.surveys.models.ledger import Answer, LedgerChange, LedgerHead, LedgerPerson, PersonKey, Response, Tombstone
from app.surveys.models.tallies import IS_WHOLE, WHOLE, KeptNumbers, KeptSplit, Tally, TallyMark

__all__ = [
    "IS_WHOLE",
    "WHOLE",
    "Answer",
    "Invitation",
    "KeptNumbers",
    "KeptSplit",
    "LanguageShown",
    "LedgerChange",
    "LedgerHead",
    "LedgerPerson",
    "PersonKey",
    "PromptState",
    "Question",
    "Response",
    "Survey",
    "SurveyRound",
    "Tally",
    "TallyMark",
    "Tombstone",
    "Wording",
]
