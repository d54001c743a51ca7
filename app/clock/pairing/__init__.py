"""Judges the punches of one employee: a verdict for each punch, and which records are written.
Every module here is pure.

judge.py walks over the punches, lanes.py makes shifts and folds of them, shift_rules.py decides about each shift.
shifts.py only names what they speak of.
"""
