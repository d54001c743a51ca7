"""Alerts: who is told of which problem when, by mail. The rules of each person, what waits, and the letters.

people.py says who may be told, rules.py what each person chose; hours.py decides if a mail waits for quiet hours,
timing.py all else. Problems themselves open and close in `app/problems/`; mails leave through `app/mail/`.
"""
