"""The kinds of problems that the host knows: jobs, and the platform itself."""
