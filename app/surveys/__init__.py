"""Surveys: definitions, who is asked when, the ledger of answers, ratings of apps."""
