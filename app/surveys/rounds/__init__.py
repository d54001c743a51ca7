"""Rounds of a survey that repeats: on which days they open, and what its author says about that. Pure; app.surveys.authoring.opening opens them."""
