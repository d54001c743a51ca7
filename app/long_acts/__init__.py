"""Acts of a person on many rows, carried out by a job in slices: what was asked, how far it is, and what became of it.

acts.py: an act whose items are named at once. over_lists.py: an act on all that a list shows under a filter.
words.py: how pages and commands tell of an act.
"""
