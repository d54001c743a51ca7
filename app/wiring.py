"""Connects the modules with what asks them, none of which knows another:
listeners to the host, and offers to its pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.registry import modules

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.db.session import Database
    from app.secrets import KeyRing


def connect() -> None:
    """Has each module register its listeners (`_connect` in `app/MODULE/module.py`). Every process calls it once, and
    may call it twice."""
    from app.accounts import tenants
    from app.host.problem_kinds import keys

    for module in modules():
        module.connect()
    keys.offer(_what_does_not_open)
    tenants.listen(_try_mails_again)


async def _what_does_not_open(database: "Database", ring: "KeyRing") -> Sequence[str]:
    from app import sealed

    return (await sealed.examine(database, ring)).broken


async def _try_mails_again(db: "AsyncSession", tenant: str) -> None:
    from app.mail import account_letters

    await account_letters.try_again(db, tenant)


def connect_pages() -> None:
    """The same for what only pages ask. It loads them, which costs a worker or a command as much as all
    that it needs itself."""
    from app.host import subjects
    from app.host.attendance import queries
    from app.host.pages import api_reference, palette, person_parts
    from app.web.long_acts import known

    for site in (module.site() for module in modules()):
        for links in site.behind_records:
            queries.offer_links(links)
        for source in site.palette:
            palette.offer(source)
        for of_person in site.of_person:
            person_parts.offer(of_person)
        api_reference.API_DOCUMENTS |= {one.name: one for one in site.documents}
        palette.ACTS.extend(act for act in site.acts if act not in palette.ACTS)
        for kind, rows in site.subjects.items():
            subjects.offer(kind, rows)
        known.offer(site.long_acts, site.named_acts)
