"""The kinds of problems that the surveys know: the ledger of the platform."""
