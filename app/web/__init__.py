"""Everything that every page needs: requests, sessions, forms, lists, templates. The only place that knows HX-*
headers.

Each request comes in through gate.py, which also sets the security headers, passes the guard of its route (guards.py),
and gets its errors answered by errors/answers.py.
"""
