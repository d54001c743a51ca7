"""*Administration → Backups*, and the address that backups call."""
