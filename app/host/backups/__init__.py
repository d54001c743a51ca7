"""Dead man's switches: Muster tells an outside monitor that it lives, and backups tell Muster that they were made."""
