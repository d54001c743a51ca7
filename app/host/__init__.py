"""The host: accounts, tenants, people, attendance, kiosk, policies, audit. It knows neither clock nor surveys.

models.py has the tables of a workspace, events.py what other modules are told. subjects.py names things in the audit.
jobs.py has the jobs; module.py lists the permissions and acts.
"""
