"""Turns due punches into attendance, a batch of people in each transaction; also previews other rules.

import_due.py is the whole import, batch.py one batch of it. facts.py reads what surrounds a punch, for everybody who
judges one; rows.py reads and writes the rows. preview.py says what other rules would change.
"""
