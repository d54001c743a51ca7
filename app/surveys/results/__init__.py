"""What the answers come to: counts, rates and the lists of responses. Reads the ledger, writes only tallies."""
