"""Who may: tenants, users, roles, permissions, second factors, sessions and tokens, policies, and the audit.

accounts.py manages accounts, signing_in.py signs in, one_time_links.py makes links for passwords. roles.py knows the
permissions, administrators.py keeps the last administrator, and guards against giving more than one has. audit.py
records what was done, policies.py has the switches of a workspace. housekeeping.py deletes expired rows daily, and
says how long expired links and tokens are kept. When a sign-in ends by itself: app/web/sessions.py. ending_sessions.py
ends the sessions of an account that changes.
"""
