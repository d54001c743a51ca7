"""The mirror of one time-clock server: its tables, its rules, its sync, its pages and its integration API."""
