"""Webhooks: what changed in a workspace is noted in the transaction of the change; a worker makes events of it and
sends those to the endpoints that want them, as Standard Webhooks describes. The rooms above say what a change is.

noting.py notes a change, gathering.py makes events, sending.py sends them, settling.py writes what follows. calling.py
makes one call, and says what its answer means. retry_pauses.py has the rules: when to try again, and when an endpoint
is switched off. addresses.py checks the address of an endpoint, and says how much of it is shown.
"""
