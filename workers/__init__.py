"""Job workers: SAQ's settings and the life of a job's row while it runs. A job's work is a function in app.

claims.py takes a job and ends its row, running.py runs it, slots.py says how many run at a time. schedule.py asks what
is due, wakeups.py wakes workers for it, cancelling.py ends tasks for sure. app/jobs.py says how long ended jobs are
kept, app/worker_pace.py how often a worker gives a sign of life, and after what silence another one takes up its job.
"""
