"""What a person reads about their own answers: whole sentences and labels, so that each can be translated. Pure."""

STANDINGS = {
    "answered": "You answered",
    "agreed": "You agreed",
    "declined": "You disagreed",
    "withdrawn": "You withdrew your agreement",
    "opted_out": "You asked not to be asked again",
}
CHANGES = {"withdrawn": "Agreement withdrawn", "agreed_again": "Agreed again"}
WAYS = {"web": "in the portal", "api": "in an app", "demo": "demo data"}
# Why an agreement can't be given again, by the reason of app.surveys.asking.pacing.
WHY_NOT = {
    "draft": "It is no longer asked, so you can’t agree to it again.",
    "archived": "It is no longer asked, so you can’t agree to it again.",
    "not_started": "It is not asked yet, so you can’t agree to it again now.",
    "over": "It has ended, so you can’t agree to it again.",
    "user_type": "You are no longer asked this, so you can’t agree to it again.",
    "tenant": "You are no longer asked this, so you can’t agree to it again.",
    "superseded": "There is a new version of it, so you can’t agree to this one again.",
}
NO_SUCH_ANSWER = "You have no answer with this receipt."
NOT_AN_AGREEMENT = "Only an agreement can be withdrawn or given again, and this answer is none. Nothing was changed."
SAID = {
    "withdrawn": "Your agreement is withdrawn. It no longer counts.",
    "agreed_again": "It is recorded that you agree again.",
}
SAID_ALREADY = "That was recorded already; nothing changed."
