"""What a person reads about their own answers: whole sentences and labels, so that each can be translated. Pure."""

from app.wording.marked import marked

STANDINGS = {
    "answered": marked("You answered"),
    "agreed": marked("You agreed"),
    "declined": marked("You disagreed"),
    "withdrawn": marked("You withdrew your agreement"),
    "opted_out": marked("You asked not to be asked again"),
}
CHANGES = {"withdrawn": marked("Agreement withdrawn"), "agreed_again": marked("Agreed again")}
WAYS = {"web": marked("in the portal"), "api": marked("in an app"), "demo": marked("demo data")}
# Why an agreement can't be given again, by the reason of app.surveys.asking.pacing.
WHY_NOT = {
    "draft": marked("It is no longer asked, so you can’t agree to it again."),
    "archived": marked("It is no longer asked, so you can’t agree to it again."),
    "not_started": marked("It is not asked yet, so you can’t agree to it again now."),
    "over": marked("It has ended, so you can’t agree to it again."),
    "user_type": marked("You are no longer asked this, so you can’t agree to it again."),
    "tenant": marked("You are no longer asked this, so you can’t agree to it again."),
    "superseded": marked("There is a new version of it, so you can’t agree to this one again."),
}
NO_SUCH_ANSWER = marked("You have no answer with this receipt.")
NOT_AN_AGREEMENT = marked(
    "Only an agreement can be withdrawn or given again, and this answer is not one. Nothing was changed."
)
SAID = {
    "withdrawn": marked("Your agreement is withdrawn. It no longer counts."),
    "agreed_again": marked("It is recorded that you agree again."),
}
SAID_ALREADY = marked("That was recorded already; nothing changed.")
