"""What a module gives to the web: pages, APIs, menu, and what pages of other modules ask it for."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litestar.types import ControllerRouterHandler
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.policies import enabled
from app.long_acts.words import LongActWords
from app.web.context import Context
from app.web.long_acts.bulk import LongBulk
from app.web.menu import MenuGroup, MenuItem

MOST_EACH = 6


@dataclass(frozen=True, slots=True)
class Found:
    """One line of the palette. `hint` is at the right: where it leads, or how it differs from similar lines. With
    `posts` it acts at once, like the button of that page."""

    url: str
    title: str
    hint: str
    icon: str
    posts: bool = False


@dataclass(frozen=True, slots=True)
class PaletteAct:
    """An act that the palette offers as a page does: a link to its form, or with `posts` a button that acts. `page` is
    the page's name."""

    item: MenuItem
    page: str
    posts: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """What a module shows on a page of the host. `template` draws it from `values`, which it gets as `part`."""

    title: str
    template: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """A person whose page is shown: the employee's id and name, and the id of the account, if there is one."""

    employee_id: int
    name: str
    user_id: int | None


# Gives what it knows of a person; None when the reader may not see it, or there is nothing to show.
PersonSource = Callable[[Context, KnownPerson], Awaitable[Part | None]]
# Gives (label of the group, what was found, best first) for what was typed; nothing if the person may not see it.
PaletteSource = Callable[[Context, str], Awaitable[tuple[str, list[Found]]]]
# Gives links to what made an attendance record, by the record's id.
RecordLinks = Callable[[AsyncSession, int], Awaitable[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class ApiDocument:
    """The OpenAPI document of an API: `build` makes it for the portal's own address, and `url` serves it."""

    name: str
    title: str
    about: str
    url: str
    build: Callable[[str], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class NamedActPage:
    """What a kind of acts on named items is called, and where one is shown. To stop one, a person needs the permission
    to edit the list."""

    words: LongActWords
    permission: str
    module: str

    def allows(self, ctx: Context) -> bool:
        return ctx.may(f"{self.permission}.edit") and self.shows(ctx)

    def shows(self, ctx: Context) -> bool:
        return ctx.may(self.permission) and enabled(ctx.policies, f"module_{self.module}")


@dataclass(frozen=True, slots=True)
class Site:
    """`pages` are served to browsers, with a check against forged requests; `apis` without. `subjects` says what the
    audit's subjects are called and which still exist, by kind (app.host.subjects.KINDS). `long_acts`: the module's bulk
    acts that a job carries out when they mean many rows. `named_acts`: the pages of its other long acts, by kind.
    `integration`: its endpoints of the integration API (app.api.openapi.Endpoint). One document has the endpoints of
    all modules; their routes are among `apis`."""

    pages: Sequence[ControllerRouterHandler]
    apis: Sequence[ControllerRouterHandler] = ()
    documents: tuple[ApiDocument, ...] = ()
    integration: Sequence[Any] = ()
    menu: tuple[MenuGroup, ...] = ()
    palette: tuple[PaletteSource, ...] = ()
    acts: tuple[PaletteAct, ...] = ()
    subjects: Mapping[str, Select[*tuple[Any, ...]]] = field(default_factory=dict)
    behind_records: tuple[RecordLinks, ...] = ()
    of_person: tuple[PersonSource, ...] = ()
    long_acts: tuple[LongBulk, ...] = ()
    named_acts: Mapping[str, NamedActPage] = field(default_factory=dict)
