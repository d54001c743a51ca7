"""Ties modules together that must not know each other: what listens to the host. Every process calls `connect` once."""


def connect() -> None:
    """Registers the listeners; safe to call twice."""
