"""Pages of the person who is asked: what waits for them, and what became of an answer."""
