"""Demo surveys with invented people and answers, and how they are removed."""
