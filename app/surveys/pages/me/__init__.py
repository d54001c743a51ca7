"""Pages of the person who is asked: what is open for them, and what they answered."""
