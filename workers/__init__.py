"""Job workers: SAQ's settings and the life of a job's row while it runs. A job's work is a function in app."""
