"""Invitations and reminders by mail."""
