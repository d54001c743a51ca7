"""The Sync Center: its page, its acts, one run, and what disappeared from the server."""
