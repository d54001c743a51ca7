"""A stand-alone gallery of every component: `python -m tests.gallery` serves it, the tests look at it."""
