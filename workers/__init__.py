"""Job workers: SAQ's settings, and one file per module that opens a session and calls one function of app."""
