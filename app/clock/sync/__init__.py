"""One run from lease to end: which windows and listings it reads within its budget, what it writes of itself, and the
nightly count check.

run.py has the steps in their order, run_rows.py the rows of runs, when_due.py the schedule. listings.py and
punch_sync.py decide what is read, slice_length.py how many days of the past at a time. backfill.py notes a past range
that a person asks for. page_walk.py walks over the pages, after_mirror.py matches, imports and counts.
"""
