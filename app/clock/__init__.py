"""The mirror of one time-clock server: its tables, its rules, its sync, its pages and its integration API.

outcomes.py names what may become of a punch, settings.py has the settings, days.py says which days a sync reads (how
many at a time: sync/slice_length.py). purge.py deletes daily what a workspace keeps for a limited time. jobs.py has the
jobs; module.py lists the permissions and acts.
"""
