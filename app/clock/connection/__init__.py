"""The one saved server: save, test, pause and unlock; the session that all workers share, and the lock after refused passwords;
the lease of a run, the log of calls, and schedules read on demand."""
