"""Attendance records: written by hand or by an import, decided, locked by day, and searched.

records.py has what a person does with a record, imported.py what an import writes. day_locks.py locks and opens days,
hours.py says what may stand in a record, queries.py reads them.
"""
