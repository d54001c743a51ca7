"""`python -m app` is `muster`."""

from app.cli import main

main()
