"""Muster: a portal that mirrors a time-clock server and asks people. See README.md for the map."""
