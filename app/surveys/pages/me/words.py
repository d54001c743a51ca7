"""Sentences for respondents that are in no template: whole ones, so that each can be translated. Pure."""

from typing import Final

from app.wording.marked import marked

THANKS: Final = {
    "answered": marked("Thank you. Your answer was recorded."),
    "agreed": marked("Thank you. It is recorded that you agree."),
    "declined": marked("Thank you. It is recorded that you disagree."),
    "withdrawn": marked("You withdrew your agreement. It no longer counts."),
    "opted_out": marked("You won’t be asked this again."),
}
LATER: Final = marked("You will be asked again after {time}.")
WITH_RECEIPT: Final = marked("{sentence} Receipt {receipt}")
GONE: Final = marked("That question is no longer open, so nothing was recorded.")
NOT_OPEN: Final = marked("This question is not open to you, or no longer. Questions for you lists those that are.")
UNDECIDED: Final = marked("Nothing was sent yet. Choose one of the buttons below the questions.")
BACK: Final = marked("What you wrote before you were signed out is back. Nothing was sent yet.")
CHANGED: Final = marked(
    "The text was changed while you had it open. This is the new text. Your answers are kept where they still fit."
)
SWITCHED_OFF: Final = marked("Surveys are not asked in this portal: an administrator switched that off.")
