"""The one saved server: the connection itself, the session that all workers share, the lease of a run, the log of
calls, and schedules read on demand.

saved.py saves, tests, pauses and unlocks the connection; connection_form.py checks what an operator gives.
shared_session.py keeps the session, and locks the connection after refused passwords. lease.py says which worker may
write.
"""
