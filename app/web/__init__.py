"""Everything that every page needs: requests, sessions, forms, lists, templates. The only place that knows HX-*
headers.

Each request comes in through gate.py, which also sets the security headers, passes the guard of its route (guards.py),
and gets its errors answered by errors/answers.py. sessions.py says when a sign-in ends by itself.

formats.py writes instants, distances and numbers. fields.py and forms.py read forms; list_spec.py and lists.py make
lists. exports.py writes a list as CSV, JSON Lines or Excel; app/texts.py makes cells of a CSV harmless that a
spreadsheet would run.
"""
