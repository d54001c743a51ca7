"""Numbers about the mirror: how complete it is, what the dashboard and the analytics show. Reads only.

completeness.py says up to when all punches are known, status.py has the figures of the Dashboard and the API,
analytics.py those of a range of days. terminal_backlog.py says how many punches of a terminal the server counts and
Muster does not have. thresholds.py has the limits from which a terminal is worth a warning: offline,
or a wrong clock.
"""
