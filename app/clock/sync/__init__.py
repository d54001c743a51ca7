"""One run from lease to end: which windows and listings it reads within its budget, what it writes of itself, and the nightly count check."""
