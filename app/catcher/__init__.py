"""A mail server for the demo and for trying things: it keeps what it gets, shows it on a page,
and sends nothing anywhere."""
