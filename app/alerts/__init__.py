"""Alerts: who is told of which problem when, by mail. The rules of each person, what waits, and the letters.

Problems themselves open and close in `app/problems/`; mails leave through `app/mail/`.
"""
