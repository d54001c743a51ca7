"""Demo surveys with invented people and answers, and how they are removed.

seed.py makes and removes everything. cast.py is what the demo is made of, plan.py who answers what and when.
"""
