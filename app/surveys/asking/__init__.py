"""Who is asked which survey when, and what an answer does.

situations.py reads where a person stands with each survey, pacing.py decides what may be shown (pure), queue.py says
who is asked now, and responding.py records an answer.
"""
