"""The one saved server: save, test, pause and unlock; its shared sign-in, its lease, the log of its calls, and schedules read on demand."""
