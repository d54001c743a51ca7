"""Who is asked which survey when, and what an answer does."""
