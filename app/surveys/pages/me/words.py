"""What a respondent reads that no template says: whole sentences, so that each can be translated. Pure."""

from typing import Final

THANKS: Final = {
    "answered": "Thank you. Your answer was recorded.",
    "agreed": "Thank you. It is recorded that you agree.",
    "declined": "Thank you. It is recorded that you disagree.",
    "withdrawn": "You withdrew your agreement. It no longer counts.",
    "opted_out": "You won’t be asked this again.",
}
ALREADY: Final = "That was recorded already; nothing changed."
LATER: Final = "You will be asked again after {time}."
WITH_RECEIPT: Final = "{sentence} Receipt {receipt}"
GONE: Final = "That question is no longer open, so nothing was recorded."
NOT_OPEN: Final = "This question is not open to you, or no longer. Questions for you lists those that are."
UNDECIDED: Final = "Nothing was sent yet. Choose one of the buttons below the questions."
BACK: Final = "What you wrote before you were signed out is back. Nothing was sent yet."
CHANGED: Final = (
    "The text was changed while you had it open. This is the new text. Your answers are kept where they still fit."
)
SWITCHED_OFF: Final = "Surveys are not asked in this portal: an administrator switched that off."
