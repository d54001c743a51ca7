"""Ties modules together that must not know each other: what listens to the host, and what is offered to its pages."""

from app.clock import bindings, due, zones
from app.host import events, zone


def connect() -> None:
    """Registers the listeners; every process calls it once, and may call it twice."""
    zone.provide(zones.zone_name)
    events.listen(due.on_host_event)
    events.listen(bindings.on_host_event)


def connect_pages() -> None:
    """The same for what only pages ask. It loads them, which costs a worker or a command as much as all that it needs itself."""
    from app.clock import offers
    from app.host import attendance_queries, subjects
    from app.host.pages import palette
    from app.surveys import offers as survey_offers

    attendance_queries.offer_links(offers.punches_behind)
    palette.offer(offers.codes)
    palette.offer(offers.terminals)
    palette.offer(survey_offers.surveys)
    for kind, ids in {**offers.VANISHING, **survey_offers.VANISHING}.items():
        subjects.offer(kind, ids)
