"""Demo surveys with invented people and answers, and how all of it leaves again."""
