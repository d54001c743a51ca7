"""The results of surveys: counts, rates and the lists of responses. Reads the ledger, and writes only tallies and
counted splits.

of_version.py reads the result of a version; breakdowns.py makes the result of each question from counts, and
promoters.py its net promoter score. tallies.py counts responses, splits.py counts them by groups of people, and names
the twelve largest. queries.py reads the lists, responses.py a single response.
"""
