"""Muster: a portal that mirrors a time-clock server and asks people. See README.md for the map.

Besides the rooms: jobs.py asks for jobs, worker_pace.py says when a worker is taken for dead. sealed.py lists every
column that holds a secret, secrets.py seals. texts.py has what is done to texts, also to cells of a CSV that must not
run; dates.py has days in words, counting.py numbers in a sentence. registry.py says what a module brings, wiring.py
connects the modules.
"""
