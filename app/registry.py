"""What a module brings to the portal: permissions, acts, jobs and policies as data,
pages and listeners as functions that load them.

A command needs the words of all modules and the pages of none; so `app/MODULE/module.py` imports nothing but this file,
and its functions import what they return.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from importlib import import_module
from typing import Any

# In the order of the menu.
MODULES = ("app.clock", "app.surveys", "app.host")
# Roles that every workspace has from the start. An administrator has every permission.
ADMINISTRATOR, OPERATOR, AUTHOR, VIEWER = "Administrator", "Operator", "Survey author", "Viewer"
BUILT_IN_ROLES = (ADMINISTRATOR, OPERATOR, AUTHOR, VIEWER)


@dataclass(frozen=True, slots=True)
class Permission:
    """`roles` are the built-in roles that have it beside the administrator. Those of a workspace get a new one when
    `muster migrate:modules` runs."""

    name: str
    label: str
    explanation: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PermissionGroup:
    """Permissions under one heading of the page Roles; `place` orders the headings. Modules may share a heading."""

    label: str
    place: int
    permissions: tuple[Permission, ...]

    @property
    def key(self) -> str:
        """What forms call it."""
        return self.label.lower().replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Subject:
    """What an act was done to. `url` is its page: the id follows; with `alone` one page shows them
    all. `numbered` False: there is only one, which pages name without its id. `of_person`: it has no name of its own,
    so the person whom it is about stands behind its id."""

    label: str
    url: str | None = None
    alone: bool = False
    numbered: bool = True
    of_person: bool = False


@dataclass(frozen=True, slots=True)
class AuditedField:
    """A field in the values before and after an act, as pages call it. `values` are the words for what is kept; `unit`
    stands behind a number; `id_of` names the kind of person, `employee` or `user`, whose id the value is."""

    label: str
    values: Mapping[Any, str] = field(default_factory=dict)
    unit: str = ""
    id_of: str = ""


@dataclass(frozen=True, slots=True)
class JobKind:
    """What one kind of job may take; what it does is in `app/MODULE/jobs.py`. `timeout` is for
    one attempt. `attempts` counts the first; `pause` is doubled with each further one. `problem` is the kind of problem
    that its failure is, "" where something else tells of it. `brief`: it is often due and soon over, so each worker
    keeps a place for such work. `first`: it is taken before all other work."""

    label: str
    timeout: timedelta
    attempts: int = 3
    pause: timedelta = timedelta(seconds=30)
    problem: str = "job_failed"
    brief: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True)
class PolicySwitch:
    """A switch of a workspace, or a number of `unit` up to `most`. `section` is a key of the page Policies."""

    name: str
    default: bool | int
    section: str
    label: str
    help: str
    unit: str = ""
    most: int = 0


@dataclass(frozen=True, slots=True)
class ListRights:
    """A list of which people save views. `sees` and `edits` are permissions; who has `edits` may share a view, and
    without it ("") views are for oneself."""

    name: str
    label: str
    url: str
    sees: str
    edits: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """`acts` and `subjects` are what the audit calls by these words; `audited` loads those for its fields, by `field`,
    or by `subject.field` where one word means several things. `site` gives an app.web.site.Site; `work` gives the
    module's jobs.py, which has FUNCTIONS, one for each of `jobs`, and `schedule`, which asks for the jobs that are due
    in a workspace and says when it wants to be asked again (None: some minutes later), and may have LETTERS, which
    write mails by kind; `connect` registers listeners, and may be called twice; `problems` gives an
    app.problems.kinds.ProblemSource, None for a module that finds none.
    """

    permissions: tuple[PermissionGroup, ...]
    acts: Mapping[str, str]
    subjects: Mapping[str, Subject]
    audited: Callable[[], Mapping[str, AuditedField]]
    policies: tuple[PolicySwitch, ...] = ()
    jobs: Mapping[str, JobKind] = field(default_factory=dict)
    lists: tuple[ListRights, ...] = ()
    site: Callable[[], Any]
    work: Callable[[], Any]
    connect: Callable[[], None] = lambda: None
    problems: Callable[[], Any] | None = None


@cache
def modules() -> tuple[Module, ...]:
    return tuple(import_module(f"{name}.module").MODULE for name in MODULES)


@cache
def list_rights() -> Mapping[str, ListRights]:
    """Those of all modules, by the name of the list."""
    return {one.name: one for module in modules() for one in module.lists}


def permission_groups() -> tuple[PermissionGroup, ...]:
    """Each heading once, with what all modules put under it."""
    groups: dict[str, PermissionGroup] = {}
    for group in sorted((one for module in modules() for one in module.permissions), key=lambda one: one.place):
        known = groups.get(group.label)
        here = (*known.permissions, *group.permissions) if known else group.permissions
        groups[group.label] = PermissionGroup(group.label, group.place, here)
    return tuple(groups.values())
