"""Figures for `make bench`: each prints a number and its ratio to a floor measured in the same run.
Never part of the suite."""
