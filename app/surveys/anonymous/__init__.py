"""Answers to anonymous surveys: ballots while a version is open, results once it is closed, and of groups only those
that are large enough."""
