"""What Muster holds of the server, and how complete that is. It writes pages of listings and punches, and never talks
to the server.

listing_rows.py and punch_rows.py write pages, cursors.py notes how far each walk got. missing_rows.py doubts a listing
from which many rows are missing at once, and gone.py doubts many missing punches: both ask a person. punch_edits.py
doubts numbers that now belong to other punches: the server was restored. organization.py puts the tree of departments
and areas together. shortfalls.py is about windows of punches of which the server counts more than it gives,
terminal_skew.py about clocks that are wrong, one_key.py about terminals that send one code for coming and going.
devices.py has what an operator sets on a terminal.
"""
