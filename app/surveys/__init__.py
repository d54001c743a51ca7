"""Surveys: definitions, who is asked when, the ledger of answers, ratings of apps.

question_types.py and question_details.py say what a question may have, item.py and showing.py what a person sees of a
survey. erasing.py says what goes and what stays when a person is erased. jobs.py has the jobs; module.py lists the
permissions and acts.
"""
