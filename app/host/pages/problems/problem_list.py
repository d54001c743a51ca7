"""The list of problems: its rows, columns, filters and bulk acts. The page is page.py; rows by kind: groups.py."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, case, func, literal, select

from app.accounts.models import User
from app.db.among import among
from app.db.searching import contains
from app.host.pages.problems import places
from app.host.pages.problems.places import DEPARTMENT, TERMINAL
from app.host.pages.problems.seen import ACT, kinds_seen
from app.host.pages.problems.snoozes import SNOOZES
from app.problems.kinds import ProblemKind, kinds
from app.problems.models import Problem
from app.problems.queries import IS_OPEN, IS_SNOOZED, IS_TO_DO, shown_name
from app.web.context import Context
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, Query

URL = "/problems"
SEVERITIES = {"critical": "Critical", "warning": "Warning", "info": "Info"}
TONES = {"critical": "bad", "warning": "warn", "info": "note"}
STATES = {"snoozed": "Snoozed", "closed": "Closed"}
CLOSED_BY = {"itself": "Fixed", "person": "Dismissed"}
RANK: ColumnElement[int] = case({"critical": 2, "warning": 1}, value=Problem.severity, else_=0)
# More than any problem can hold.
_HARM = RANK * literal(10**12, BigInteger) + Problem.held_punches
_SHOWN_TERMINAL = func.coalesce(places.TERMINAL_NAME, TERMINAL)
_COLUMNS: tuple[Any, ...] = (
    Problem.id,
    Problem.kind,
    Problem.severity,
    Problem.subject_type,
    Problem.subject_id,
    Problem.title,
    Problem.detail,
    Problem.held_punches,
    Problem.held_people,
    Problem.evidence,
    Problem.facts,
    Problem.since,
    Problem.opened_at,
    Problem.closed_at,
    Problem.closed_by,
    case((IS_SNOOZED, Problem.snoozed_until)).label("snoozed_until"),
    Problem.assigned_to,
    DEPARTMENT.label("department"),
    _SHOWN_TERMINAL.label("terminal"),
    shown_name(Problem.assigned_to).label("assignee"),
)
BASE: Select[Any] = select(*_COLUMNS).select_from(Problem).outerjoin(User, User.id == Problem.assigned_to)
REMEDY = BulkAction("remedy", "Apply the remedy", "wand")
DISMISS = BulkAction("dismiss", "Dismiss", "x")
BULK = (
    REMEDY,
    BulkAction("assign_me", "Assign to me", "user-check", menu="Assign"),
    BulkAction("assign", "Assign to a person", "user-check", menu="Assign"),
    BulkAction("unassign", "Unassign", "user-check", menu="Assign"),
    *(BulkAction(f"snooze_{word}", label, "clock-pause", menu="Snooze") for word, label in SNOOZES.items()),
    BulkAction(
        "wake", "End the snooze", "clock-pause", menu="Snooze", fits=lambda values: values.get("state") == "snoozed"
    ),
    DISMISS,
)
EMPTY = Empty(
    "circle-check",
    "No problems",
    "Nothing needs a person now. Muster looks by itself: after each sync, import and decision, and every five minutes while there is a "
    "connection to a time clock.",
)
COLUMNS = (
    # Within one severity, problems that hold the most punches do the most harm.
    Column("severity", "Severity", lambda row: SEVERITIES[row.severity], _HARM),
    Column("title", "Problem", lambda row: row.title, Problem.title, titles=True),
    Column("kind", "Kind", lambda row: label_of(row.kind), shown=False, always=True),
    Column("detail", "What to do", lambda row: row.detail, shown=False),
    Column("since", "Since", lambda row: row.since, Problem.since),
    Column(
        "held_punches",
        "Punches",
        lambda row: row.held_punches,
        Problem.held_punches,
        numeric=True,
        hint="Punches that it keeps from counting",
    ),
    Column("held_people", "People", lambda row: row.held_people, Problem.held_people, numeric=True),
    Column("department", "Department", lambda row: row.department, DEPARTMENT, shown=False, always=True),
    Column("terminal", "Terminal", lambda row: row.terminal, _SHOWN_TERMINAL, shown=False, always=True),
    Column("assignee", "Assigned to", lambda row: row.assignee, User.name),
    Column("snoozed_until", "Snoozed until", lambda row: row.snoozed_until, Problem.snoozed_until, shown=False),
    Column("closed_at", "Closed", lambda row: row.closed_at, Problem.closed_at, shown=False),
    Column("closed_by", "How", lambda row: CLOSED_BY.get(row.closed_by or ""), Problem.closed_by, shown=False),
    Column("id", "Number", lambda row: row.id, shown=False, always=True),
    Column("actions", "", lambda _: None),
)


def base(ctx: Context, query: Query) -> Select[Any]:
    """The problems of the kinds that the person sees. Snoozed and closed ones are left out unless the address asks for
    them."""
    rows = BASE.where(among(Problem.kind, kinds_seen(ctx)))
    return rows if str(query.get("state") or "").strip() else rows.where(IS_TO_DO)


def keys(rows: Select[Any]) -> Select[Any]:
    """The ids of the rows of `base`. The list finds a page by them, and then reads the other columns of its rows."""
    return rows.with_only_columns(Problem.id)


def only_kind(query: Query) -> str:
    """The one kind that the address asks for, "" where it asks for none or several."""
    asked = [str(one) for one in query.getall("kind", []) if str(one).strip()]
    return asked[0] if len(asked) == 1 else ""


def able(action: str, may: Collection[str], only: str = "") -> ColumnElement[bool]:
    """Problems that a bulk act can change. `may`: the permissions of the person. `only`: the one kind that a remedy is
    for."""
    if action == "dismiss":
        return IS_OPEN & among(Problem.kind, [one.name for one in kinds().values() if one.dismissible])
    if action == "remedy":
        return IS_OPEN & among(Problem.kind, [only] if _is_safe(kinds().get(only), may) else [])
    return IS_SNOOZED if action == "wake" else IS_OPEN


def offered_acts(actions: Sequence[BulkAction], rows: Iterable[Any], may: Collection[str]) -> list[BulkAction]:
    """The bulk acts under these rows. A remedy for many is offered where one of the rows has one."""
    has_remedy = any(_is_safe(kinds().get(row.kind), may) for row in rows)
    return [one for one in actions if has_remedy or one is not REMEDY]


def _is_safe(kind: ProblemKind | None, may: Collection[str]) -> bool:
    remedy = kind.remedy if kind else None
    return remedy is not None and remedy.many and set(remedy.rights) <= set(may)


def label_of(kind: str) -> str:
    return kinds()[kind].label if kind in kinds() else kind


async def spec_of(ctx: Context, query: Query) -> ListSpec:
    """The list as this person sees it."""
    seen = kinds_seen(ctx)
    offered = await places.offered(ctx.db, seen)
    closed = query.get("state") == "closed"
    return ListSpec(
        name="problems",
        label="problems",
        url=URL,
        key=Problem.id,
        sort="-closed_at" if closed else "-severity",
        columns=_shown_of_closed(COLUMNS) if closed else COLUMNS,
        filters=_filters(
            ctx.user.id,
            # Links on other pages name several kinds. A person may see only some of them.
            {*seen, *(one for one in query.getall("kind", []) if one in kinds())},
            _with_asked(query, "department", offered.departments),
            _with_asked(query, "terminal", offered.terminals),
        ),
        empty=EMPTY,
        bulk_url=f"{URL}/bulk",
        bulk=() if closed or not ctx.may(ACT) else BULK,
    )


def _with_asked(query: Query, name: str, offered: Mapping[str, str] | None) -> dict[str, str]:
    """In alphabetical order. A value in the address is offered too, even when no problem has it now."""
    asked = str(query.get(name) or "")
    known = {**({asked: asked} if asked.strip() else {}), **(offered or {})}
    return dict(sorted(known.items(), key=lambda one: (one[1].casefold(), one[0])))


def _shown_of_closed(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    swapped = {"closed_at": True, "closed_by": True, "held_punches": False, "held_people": False, "actions": False}
    return tuple(replace(one, shown=swapped.get(one.key, one.shown)) for one in columns)


def _filters(
    user_id: int, offered: Collection[str], departments: Mapping[str, str], terminals: Mapping[str, str]
) -> tuple[Filter, ...]:
    rank = list(SEVERITIES)
    by_severity = sorted(map(kinds().__getitem__, offered), key=lambda one: (rank.index(one.severity), one.label))
    return (
        Filter("q", "Search", contains(Problem.title, Problem.subject_id), placeholder="Words of the problem"),
        Filter(
            "kind",
            "Kind",
            Problem.kind.in_,
            kind="multi",
            options={one.name: one.label for one in by_severity},
            groups={one.name: SEVERITIES[one.severity] for one in by_severity},
        ),
        Filter("severity", "Severity", Problem.severity.in_, kind="multi", options=SEVERITIES),
        Filter("state", "State", _in_state, kind="select", options=STATES),
        Filter("mine", "Mine", lambda _: Problem.assigned_to == user_id, kind="check"),
        Filter("department", "Department", lambda code: code == DEPARTMENT, "select", departments, verbatim=True),
        Filter("terminal", "Terminal", lambda serial: serial == TERMINAL, "select", terminals, verbatim=True),
    )


def _in_state(word: str) -> ColumnElement[bool]:
    return Problem.closed_at.is_not(None) if word == "closed" else IS_SNOOZED
