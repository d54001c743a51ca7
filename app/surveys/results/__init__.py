"""The results of surveys: counts, rates and the lists of responses. Reads the ledger, and writes only tallies and
counted splits."""
