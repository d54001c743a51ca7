"""The host: people, attendance, kiosk, apps, backups; and the pages of accounts, tenants, policies and the audit, which
are in app/accounts. It knows neither clock nor surveys.

models.py has the tables of a workspace, events.py what other modules are told. subjects.py names things in the audit.
jobs.py has the jobs; module.py lists the permissions and acts.
"""
