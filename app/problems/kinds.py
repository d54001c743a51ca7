"""The kinds of problems: their words, who may see them, what they are found by and what helps.
Modules list theirs (`Module.problems`)."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Protocol

from sqlalchemy import BigInteger, ColumnElement, DateTime, Select, Text, bindparam, cast, func, literal, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.accounts.policies import DEFAULTS, enabled
from app.db.session import PLATFORM
from app.parts import Parts
from app.problems.findings import Fact, Finding, Severity
from app.registry import modules

# What a problem was found by.
Facts = Mapping[str, Any]
PEOPLE = ("person", "people")


class ShownProblem(Protocol):
    """What a page showed of a problem, as Problem has it."""

    @property
    def held_punches(self) -> int: ...
    @property
    def evidence(self) -> int: ...
    @property
    def facts(self) -> Facts: ...


@dataclass(frozen=True, slots=True)
class RemedyAsked:
    """A person wants the remedy for these subjects. `choice` is one of the remedy's choices, "" when it has none.
    `notes`: what the remedy tells besides, in sentences."""

    parts: Parts
    db: AsyncSession
    actor: Actor
    subject_ids: Sequence[str]
    facts: Sequence[Mapping[str, Any]]
    choice: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Remedy:
    """An existing act that ends a problem. `needs` is the permission of that act, and `also` are further ones. `do`
    carries it out, and raises what the act raises. It returns the subjects that it changed when it may have left some,
    otherwise None.

    `choices` are (value, label) where the person must choose; `many`: it is safe for many problems at once. `asks` is
    the question before it, "" for none. `ways` gives the choices for one problem by its facts, when these are not the
    same for every problem of the kind. `unchanged` returns a sentence for a remedy that changed nothing; None when
    every remedy of the kind changes something. `about` gives what the button means, by the row of the problem that was
    shown; when it means something else at the press, nothing is done. `ready` returns False while the act would be
    refused: pages then do not offer it.
    """

    label: str
    needs: str
    do: Callable[[RemedyAsked], Awaitable[Collection[str] | None]]
    choices: tuple[tuple[str, str], ...] = ()
    many: bool = False
    asks: str = ""
    also: tuple[str, ...] = ()
    ways: Callable[[Mapping[str, Any]], tuple[tuple[str, str], ...]] | None = None
    unchanged: Callable[[RemedyAsked], Awaitable[str]] | None = None
    ready: Callable[[Mapping[str, Any], datetime], bool] | None = None
    about: Callable[[ShownProblem], str] | None = None

    def is_ready(self, facts: Mapping[str, Any], now: datetime) -> bool:
        return self.ready is None or self.ready(facts, now)

    def choices_for(self, facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The choices for one problem, the likeliest first."""
        return self.ways(facts) if self.ways else self.choices

    def label_for(self, facts: Mapping[str, Any]) -> str:
        return self.ways(facts)[0][1] if self.ways else self.label

    @property
    def rights(self) -> tuple[str, ...]:
        return (self.needs, *self.also)

    def taken(self, choice: str, facts: Mapping[str, Any]) -> str:
        """What the remedy did, in words: the chosen way, when it has several."""
        return dict((*self.choices, *self.choices_for(facts))).get(choice, self.label)


def by_facts(*names: str) -> Callable[[ShownProblem], str]:
    """A remedy's `about`: it means the same while these facts are the same."""
    return lambda shown: "/".join(str(shown.facts.get(name, "")) for name in names)


def held(shown: ShownProblem) -> str:
    """A remedy's `about`: it means the punches that a page showed, how many and the newest."""
    return f"{shown.held_punches}/{shown.evidence}"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """`sees` is the permission of the page that `url` leads to, given the subject's id and the facts: without it a
    person does not see the problem. `advice` says what to do, in a sentence.
    `detect` is pure: it is given a fact and the time.

    `people`: what the sum of `held_people` over several problems counts.

    A kind whose `detect` is None is told by the job that finds it (app.problems.looking.tell). `can_be_dismissed` None:
    where there is no remedy.
    """

    name: str
    label: str
    severity: Severity
    sees: str
    advice: str
    url: Callable[[str, Mapping[str, Any]], str]
    detect: Callable[[Fact, datetime], Finding | None] | None = None
    remedy: Remedy | None = None
    platform_only: bool = False
    can_be_dismissed: bool | None = None
    people: tuple[str, str] = PEOPLE

    @property
    def dismissible(self) -> bool:
        return self.remedy is None if self.can_be_dismissed is None else self.can_be_dismissed


@dataclass(frozen=True, slots=True)
class FactSelect:
    """What is read for some kinds: a SELECT of `fact_columns`, over tables of the workspace and shared ones.

    `few`: there are some dozens of rows at most. Each look judges all of them, so time alone may open and close their
    problems. When it is false, a look judges only rows that differ from the stored problem. Then each row must be a
    problem, and a condition on time must be in its WHERE.

    `mark`, for a SELECT of thousands of rows: the SQL of a number that changes with what a look compares in the rows.
    Computing it costs less than comparing the rows.
    """

    kinds: frozenset[str]
    select: Select[Any]
    few: bool = True
    mark: str = ""

    @property
    def name(self) -> str:
        return min(self.kinds)


@dataclass(frozen=True, slots=True)
class ProblemSource:
    """The problems that a module brings. `by_time` concerns selects that are not `few`: it is true in a workspace where
    time alone may open one of their problems within an hour; None when it never does. For selects that are `few`, a
    look itself finds out when (app.problems.looking)."""

    kinds: tuple[ProblemKind, ...]
    facts: tuple[FactSelect, ...] = ()
    by_time: ColumnElement[bool] | None = None


def fact_columns(
    kind: str | ColumnElement[str],
    subject_type: str,
    subject_id: Any,
    *,
    facts: Any = None,
    held_punches: Any = None,
    held_people: Any = None,
    since: Any = None,
    evidence: Any = None,
) -> tuple[ColumnElement[Any], ...]:
    """The columns of a FactSelect, in their order and with their types.
    `facts` is a jsonb object that does not change by itself."""
    of_kind = literal(kind, Text) if isinstance(kind, str) else cast(kind, Text)
    given: dict[str, tuple[Any, Any]] = {
        "held_punches": (0 if held_punches is None else held_punches, BigInteger),
        "held_people": (0 if held_people is None else held_people, BigInteger),
        "since": (since, DateTime(timezone=True)),
        "evidence": (0 if evidence is None else evidence, BigInteger),
        "facts": (func.jsonb_build_object() if facts is None else facts, JSONB),
    }
    return (
        of_kind.label("kind"),
        literal(subject_type, Text).label("subject_type"),
        cast(subject_id, Text).label("subject_id"),
        *(cast(value, type_).label(name) for name, (value, type_) in given.items()),
    )


# The key of the workspace that is looked into, for a SELECT over shared tables.
WORKSPACE = bindparam("workspace", PLATFORM, type_=Text)
COLUMNS = tuple(one.name for one in select(*fact_columns("", "", "")).selected_columns)


@cache
def _sources() -> tuple[ProblemSource, ...]:
    return tuple(module.problems() for module in modules() if module.problems is not None)


@cache
def kinds() -> Mapping[str, ProblemKind]:
    """The kinds of all modules, by name."""
    return {one.name: one for source in _sources() for one in source.kinds}


@cache
def fact_selects(workspace_is_platform: bool) -> tuple[FactSelect, ...]:  # noqa: FBT001 - a key of the cache
    """The SELECTs that may find something in such a workspace."""
    here = {one.name for one in kinds().values() if workspace_is_platform or not one.platform_only}
    return tuple(one for source in _sources() for one in source.facts if one.kinds & here)


@cache
def told() -> frozenset[str]:
    """Kinds that no look finds: the jobs that find them call `tell`."""
    return frozenset(one.name for one in kinds().values() if one.detect is None)


@cache
def by_time() -> tuple[ColumnElement[bool], ...]:
    """Time alone may open a problem when one of these is true. The platform is always treated as if one were."""
    return tuple(one.by_time for one in _sources() if one.by_time is not None)


def visible(permissions: Collection[str], workspace: str, policies: Mapping[str, Any]) -> tuple[str, ...]:
    """The kinds that a person with these permissions sees in a workspace with these policies."""
    return tuple(one for one in shown(workspace, policies) if kinds()[one].sees in permissions)


def shown(workspace: str, policies: Mapping[str, Any]) -> tuple[str, ...]:
    """The kinds that exist in a workspace with these policies: without those of modules that are switched off."""
    return tuple(
        one.name
        for one in kinds().values()
        if (workspace == PLATFORM or not one.platform_only) and _is_on(one, policies)
    )


def switched_on(policies: Mapping[str, Any]) -> frozenset[str]:
    """The kinds of modules that are on under these policies."""
    return frozenset(one.name for one in kinds().values() if _is_on(one, policies))


def place_of(row: Any) -> str:
    """The address of the page that a problem is about. "" for a problem that another version found and described in its
    own way: the next sweep describes it again. `row` has the columns of Problem."""
    try:
        return kinds()[row.kind].url(row.subject_id, row.facts)
    except (KeyError, ValueError):
        return ""


def _is_on(kind: ProblemKind, policies: Mapping[str, Any]) -> bool:
    switch = f"module_{kind.sees.partition('.')[0]}"
    return switch not in DEFAULTS or enabled(policies, switch)
