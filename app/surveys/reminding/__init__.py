"""Invitations and reminders by mail: who gets which one when, the rows that wait for it, and how they are handed to the outbox."""
