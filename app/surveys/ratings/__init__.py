"""Ratings of apps: one for each person, app and day, and their figures."""
