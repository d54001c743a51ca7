"""Invitations and reminders by mail.

turns.py has the rules: which mail is due when, and when it is dropped. waiting.py has the rows of mails that wait.
handing_over.py gives due ones to the outbox, letters.py writes their texts.
"""
