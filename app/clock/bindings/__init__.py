"""Which employee stands behind which code: the decision order, the acts of operators, and rows with their history.

matching.py decides (pure), code_states.py is what it decides about, similar_names.py compares names, actions.py has the
acts, rows.py reads and writes. adding.py makes employees of codes. undoing.py takes back or moves the records that a
code's punches made, and says which stay, and why.
"""
