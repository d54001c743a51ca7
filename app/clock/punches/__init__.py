"""The stored punches as everybody else may use them: one filter, exact counts, and the only place that marks what is
judged or counted again.

queries.py reads punches by a `PunchFilter`. marks.py marks those that the import judges again. Changes of very many
punches: rejudging.py (rules, terminals) and rebinding.py (owners). daily_totals.py counts changed days again.
"""
