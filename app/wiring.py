"""Ties modules together that must not know each other: what listens to the host, and what is offered to its pages."""

from app.clock import zones
from app.clock.bindings import actions as bindings
from app.clock.punches import marks
from app.host import events, zone


def connect() -> None:
    """Registers the listeners; every process calls it once, and may call it twice."""
    zone.provide(zones.zone_name)
    events.listen(marks.on_host_event)
    events.listen(bindings.on_host_event)


def connect_pages() -> None:
    """The same for what only pages ask. It loads them, which costs a worker or a command as much as all that it needs itself."""
    from app.clock.pages import palette as offers
    from app.host import subjects
    from app.host.attendance import queries as attendance_queries
    from app.host.pages import palette
    from app.surveys.pages import palette as survey_offers

    attendance_queries.offer_links(offers.punches_behind)
    palette.offer(offers.codes)
    palette.offer(offers.terminals)
    palette.offer(survey_offers.surveys)
    for kind, ids in {**offers.VANISHING, **survey_offers.VANISHING}.items():
        subjects.offer(kind, ids)
