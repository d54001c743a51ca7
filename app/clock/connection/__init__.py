"""The one saved server: save, test, pause and unlock; the session that all workers share and its lock, its lease, the log of its calls, and schedules read on demand."""
