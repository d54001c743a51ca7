"""Rounds of a repeating survey: on which days they open, and how its author describes that. Pure;
app.surveys.authoring.opening opens them."""
