"""Employees and their kiosk codes, by hand and from a file."""
