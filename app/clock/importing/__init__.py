"""Turns due punches into attendance, a batch of people in each transaction; also previews other rules."""
