"""Attendance records: written by hand or by an import, decided, locked by day, and searched."""
