"""Ties modules together that must not know each other: what listens to the host. Every process calls `connect` once."""

from app.clock import bindings, due, reports
from app.host import events, zone


def connect() -> None:
    """Registers the listeners; safe to call twice."""
    zone.provide(reports.zone_name)
    events.listen(due.on_host_event)
    events.listen(bindings.on_host_event)
