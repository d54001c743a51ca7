"""The menu: modules say what they offer, and a person sees what they may open."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.accounts.policies import enabled
from app.web import prompting
from app.web.context import Context
from app.web.formats import number


@dataclass(frozen=True, slots=True)
class MenuItem:
    """With `permission` None everybody who is signed in sees the entry; `module` names the switch that hides it. Pages
    under the addresses in `also` belong to the entry too. `counts` gives the number beside it, 0 for none."""

    label: str
    url: str
    icon: str
    permission: str | None
    module: str | None = None
    platform_only: bool = False
    also: tuple[str, ...] = ()
    counts: Callable[[Context], int] | None = None


@dataclass(frozen=True, slots=True)
class MenuGroup:
    """`leads`: the group is above the groups of all modules. Signing in leads to the first entry of the other
    groups."""

    label: str
    items: tuple[MenuItem, ...]
    leads: bool = False


def in_order(groups: Iterable[MenuGroup]) -> tuple[MenuGroup, ...]:
    return tuple(sorted(groups, key=lambda group: not group.leads))


def visible(groups: Sequence[MenuGroup], context: Context) -> list[MenuGroup]:
    """The groups with the entries that the person may open, without empty groups."""
    kept = [replace(group, items=tuple(i for i in group.items if may_open(i, context))) for group in groups]
    return [group for group in kept if group.items]


def rendered(groups: Sequence[MenuGroup], context: Context) -> list[dict[str, Any]]:
    """The groups as the layout draws them; the entry with the longest address that the path begins with is active."""
    path = context.request.url.path
    owners = {url: item.url for group in groups for item in group.items for url in (item.url, *item.also)}
    active = owners.get(max((url for url in owners if path == url or path.startswith(url + "/")), key=len, default=""))
    return [
        {
            "label": group.label,
            "items": [
                {
                    "label": item.label,
                    "url": item.url,
                    "icon": item.icon,
                    "active": item.url == active,
                    "count": counted(item.url, item.counts(context)) if item.counts else None,
                }
                for item in group.items
            ],
        }
        for group in groups
    ]


def counted(url: str, count: int) -> dict[str, str]:
    """The number beside an entry, as the layout draws it.
    By its id the answer of a part of a page brings it up to date."""
    return {"id": f"menu-count{url.replace('/', '-')}", "number": number(count) if count else ""}


def first_url(groups: Sequence[MenuGroup], context: Context) -> str:
    """The first page after signing in. A person who may open no page lands on the questions for them."""
    if groups:
        return next((group for group in groups if not group.leads), groups[0]).items[0].url
    if prompting.offered(context):
        return "/survey_prompt"
    return prompting.LIST if prompting.listed(context) else "/account"


def may_open(item: MenuItem, context: Context) -> bool:
    """True when the person has the permission, belongs to the right workspace, and the module is on."""
    if context.person is None or (item.platform_only and not context.on_platform):
        return False
    if item.permission and not context.may(item.permission):
        return False
    return item.module is None or enabled(context.policies, f"module_{item.module}")
