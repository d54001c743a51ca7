"""Judges the punches of one employee: a verdict for each punch, and which records are written. Every module here is pure."""
