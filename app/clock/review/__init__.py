"""One punch before a person: what surrounds it, why it shows what it shows, and what the person can decide about it.

why.py finds the reason, sentences.py says it, fixes.py and links.py offer what would change it. decisions.py carries
out *Retry* and *Use the punches*, settling.py *Mark as settled* and *Keep the record*.
"""
