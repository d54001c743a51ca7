"""Ties modules together that must not know each other: what listens to the host. Every process calls `connect` once."""

from app.clock import bindings, due, offers, zones
from app.host import attendance_queries, events, zone
from app.host.pages import palette
from app.surveys import offers as survey_offers


def connect() -> None:
    """Registers the listeners; safe to call twice."""
    zone.provide(zones.zone_name)
    events.listen(due.on_host_event)
    events.listen(bindings.on_host_event)
    attendance_queries.offer_links(offers.punches_behind)
    palette.offer(offers.codes)
    palette.offer(offers.terminals)
    palette.offer(survey_offers.surveys)
