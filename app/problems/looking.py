"""Looks for problems: reads the facts of all kinds with one statement, judges each,
and writes what becomes of the problems.

One statement compares the facts with the problems that stand, inside the database: a look after which nothing changed
takes two statements, and fetches no row of ten thousand problems that stay as they are. Where there may be so many, a
mark of the facts mostly says that there is nothing to compare (marks.py).
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import TextClause, and_, delete, func, literal, or_, select, text, true, union_all, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.db.among import among
from app.db.direct import Compiled, driver
from app.db.rows import affected
from app.db.session import PLATFORM, workspace_of
from app.problems import counting, marks, storing
from app.problems.findings import Fact, Finding
from app.problems.kinds import FactSelect, fact_selects, kinds, switched_on, told
from app.problems.models import Problem, ProblemSweep
from app.problems.transitions import KnownProblem, merge

JOB = jobs.LOOK
# The next look is IDLE_EVERY after the last one at the latest, and so much earlier that time opens no problem within
# WATCHED_EVERY of it.
WATCHED_EVERY, IDLE_EVERY = timedelta(minutes=15), timedelta(hours=1)
# When another transaction has the lock of the workspace's problems, the look comes a little later.
AGAIN_AFTER = timedelta(seconds=3)
CLOSED_KEPT = timedelta(days=90)
# A kind that is not known may be of a newer version that runs beside this one.
# After so long that update is over, or was given up.
UNKNOWN_KEPT = timedelta(days=7)
# Closed problems that one sweep removes; the history goes with them.
SLICE = 2_000
_FOUND = ("kind", "subject_type", "subject_id", "held_punches", "held_people", "since", "evidence", "facts")
_STORED = (
    "id", "kind", "subject_type", "subject_id", "title", "detail", "held_punches", "held_people", "evidence", "facts",
    "opened_at", "closed_at", "closed_by", "snoozed_until",
)  # fmt: skip


async def look(db: AsyncSession, wanted: Collection[str] | None = None) -> bool:
    """Looks for all kinds, or for those `wanted`, in the transaction's workspace. It sees what the transaction itself
    has written, but not the counts of days that are noted when the transaction ends: the next sweep sees those.

    It never waits: while another transaction writes problems, it asks for a sweep and returns False. It does not look
    for kinds of a module that is switched off, and closes their problems.
    """
    await db.flush()
    chosen = _chosen(db, wanted)
    marked = tuple(one for one in chosen if one.mark and wanted is None)
    begun = (await db.execute(_begin(marked), {"workspace": workspace_of(db)})).one()
    if not begun.alone:
        jobs.request_at_end(db, JOB, key=f"{JOB}:again", due_at=begun.now + AGAIN_AFTER)
        return False
    on = switched_on(begun.policies or {})
    before = await _without_off(db, begun.kinds, on)
    selects = tuple(one for one in chosen if one.kinds & on)
    names = _kinds_of(selects)
    same = marks.unchanged(marked, begun, begun.marks, begun.now)
    scope = (on - told() if wanted is None else names) - _kinds_of(same)
    to_mark = tuple(one for one in marked if one in selects and one not in same)
    rows = await _different(db, tuple(one for one in selects if one not in same), scope, to_mark)
    findings, standing = _judged(rows, begun.now)
    changed = await _settle(db, findings, standing, begun.now, names - {*(before or ())})
    await _note_kinds(db, names, before)
    noted: dict[str, Any] = {}
    if wanted is None and workspace_of(db) != PLATFORM:
        noted |= {"looked_at": begun.now, "opens_at": opens_at(rows, begun.now)}
    if to_mark and not changed:
        noted |= {"marks": marks.to_note(to_mark, rows[0], begun.now)}
    if noted:
        await db.execute(update(ProblemSweep).values(noted).execution_options(synchronize_session=False))
    if wanted is None and begun.tidied_at is not None and begun.tidied_at.date() < begun.now.date():
        await _tidy(db)
    return True


async def look_soon(db: AsyncSession) -> None:
    """Asks for a sweep right after this transaction: a person who acts on a page must not wait for a look at all open
    problems."""
    jobs.request_at_end(db, JOB)


async def tell(db: AsyncSession, of: Collection[str], findings: Iterable[Finding]) -> None:
    """For kinds that a job finds by other means than a SELECT. `findings` must be all findings of these kinds in the
    workspace."""
    await storing.wait_for_turn(db)
    begun = (await db.execute(_begin(()), {"workspace": workspace_of(db)})).one()
    columns = [getattr(Problem, name) for name in _STORED]
    rows = await db.execute(select(*columns).where(Problem.stands, among(Problem.kind, of)))
    standing = [KnownProblem(**row._mapping) for row in rows]  # noqa: SLF001 - its documented name
    await _settle(db, list(findings), standing, begun.now, {*of} - {*(begun.kinds or ())})
    await _note_kinds(db, frozenset(of), begun.kinds)


@cache
def _begin(marked: tuple[FactSelect, ...]) -> TextClause:
    """A look with marks looks for all kinds, in a transaction of its own. Then the long statement that follows is
    planned once for each connection, and not each time."""
    with_marks = (
        f", {marks.columns(marked)}, set_config('plan_cache_mode', 'force_generic_plan', true)" if marked else ""
    )
    return text(f"""
        SELECT now() AS now, pg_try_advisory_xact_lock({storing.LOCK}) AS alone, s.kinds, s.tidied_at, s.marks,
            (SELECT jsonb_object_agg(name, value) FROM policies WHERE workspace = CAST(:workspace AS text)) AS policies{with_marks}
        FROM (SELECT 1) AS one LEFT JOIN problem_sweeps s ON true
        """)


def _kinds_of(selects: Iterable[FactSelect]) -> frozenset[str]:
    return frozenset().union(*(one.kinds for one in selects))


def _chosen(db: AsyncSession, wanted: Collection[str] | None) -> tuple[FactSelect, ...]:
    here = fact_selects(workspace_of(db) == PLATFORM)
    return here if wanted is None else tuple(one for one in here if one.kinds & set(wanted))


async def _without_off(db: AsyncSession, looked_for: Sequence[str] | None, on: frozenset[str]) -> Sequence[str] | None:
    """Returns the kinds of earlier looks, without those of modules that were switched off since. The open problems of
    those close here. When the module is switched on again, the next look for them counts as the first one. Dismissed
    problems stay dismissed."""
    off = {*(looked_for or ())} & kinds().keys() - on
    if not off or looked_for is None:
        return looked_for
    await _end(
        db, (await db.scalars(select(Problem.id).where(Problem.closed_at.is_(None), among(Problem.kind, off)))).all()
    )
    left = sorted({*looked_for} - off)
    await db.execute(update(ProblemSweep).values(kinds=left))
    return left


async def _different(
    db: AsyncSession, selects: tuple[FactSelect, ...], scope: frozenset[str], to_mark: tuple[FactSelect, ...]
) -> Sequence[Any]:
    if not selects:
        return ()
    return await _statement(selects, scope, to_mark).rows(driver(db), {"workspace": workspace_of(db)})


@cache
def _statement(selects: tuple[FactSelect, ...], scope: frozenset[str], to_mark: tuple[FactSelect, ...]) -> Compiled:
    """The statement of a look. Its rows are facts with the problem that stands for them, if they differ, if there is
    none, or if the select is `few`; and problems without a fact. It leaves out problems of kinds that this version does
    not know: during an update a worker of the other version finds them.

    Each row also has the marks `to_mark`. When nothing differs, one row has the marks alone.
    """
    parts = [one.select.add_columns(literal(one.few).label("few")) for one in selects]
    found = (union_all(*parts) if len(parts) > 1 else parts[0]).cte("found")
    stands = Problem.stands, Problem.kind.in_(sorted(scope))
    stored = select(*(getattr(Problem, name) for name in _STORED)).where(*stands).subquery("stored")
    same = and_(*(found.c[name] == stored.c[name] for name in ("kind", "subject_type", "subject_id")))
    differ = (
        found.c[name].is_distinct_from(stored.c[name]) for name in ("facts", "evidence", "held_punches", "held_people")
    )
    different = (
        select(
            *(found.c[name].label(f"found_{name}") for name in _FOUND),
            *(stored.c[name].label(f"stored_{name}") for name in _STORED),
        )
        .select_from(found.join(stored, same, full=True))
        .where(or_(found.c.kind.is_(None), stored.c.id.is_(None), found.c.few, *differ))
    )
    if to_mark:
        one, rows = marks.selected(to_mark).subquery("marks"), different.subquery("different")
        different = select(*rows.c, *one.c).select_from(one.outerjoin(rows, true()))
    return Compiled(different, with_lists=True)


def _judged(rows: Iterable[Any], now: datetime) -> tuple[list[Finding], list[KnownProblem]]:
    findings, standing = [], []
    for row in rows:
        if row.found_kind is not None and (found := _detected(row, now)):
            findings.append(found)
        if row.stored_id is not None:
            standing.append(KnownProblem(**{name: getattr(row, f"stored_{name}") for name in _STORED}))
    return findings, standing


def opens_at(rows: Iterable[Any], now: datetime) -> datetime:
    """Before this moment, time alone opens no problem. It is at most IDLE_EVERY from now, in steps of WATCHED_EVERY:
    `now` when a problem opens within the first step."""
    silent = [row for row in rows if row.found_kind is not None and not _detected(row, now)]
    steps = (now + number * WATCHED_EVERY for number in range(1, IDLE_EVERY // WATCHED_EVERY + 1))
    opening = next((step for step in steps if any(_detected(row, step) for row in silent)), None)
    return now + IDLE_EVERY if opening is None else opening - WATCHED_EVERY


def _detected(row: Any, now: datetime) -> Finding | None:
    kind = kinds()[row.found_kind]
    fact = Fact(**{name: getattr(row, f"found_{name}") for name in _FOUND})
    return kind.detect(fact, now) if kind.detect else None


async def _settle(
    db: AsyncSession,
    findings: Sequence[Finding],
    standing: Sequence[KnownProblem],
    now: datetime,
    quiet: Collection[str],
) -> bool:
    """True when anything changed."""
    new = {one.key for one in findings} - {one.key for one in standing}
    left = await storing.left_lately(db, new)
    merged = merge(findings, standing, left, now)
    if merged.changes_nothing:
        return False
    await storing.carry_out(db, merged, quiet=quiet)
    await marks.forget(db)
    return True


async def _end(db: AsyncSession, problem_ids: Sequence[int]) -> None:
    """Closes problems that this version or workspace no longer looks for.
    Listeners are not told: these were not fixed."""
    if closed := await storing.close(db, problem_ids):
        await counting.count_again(db, {one.kind for one in closed})
        await marks.forget(db)


async def _note_kinds(db: AsyncSession, names: frozenset[str], before: Sequence[str] | None) -> None:
    """Notes the kinds that were looked for, when some are new."""
    if before is not None and names <= {*before}:
        return
    noted = insert(ProblemSweep).values(id=1, kinds=sorted(names | {*(before or ())}))
    await db.execute(
        noted.on_conflict_do_update(index_elements=[ProblemSweep.id], set_={"kinds": noted.excluded.kinds})
    )


async def _tidy(db: AsyncSession) -> None:
    """Closes problems of kinds that no version knows, and removes those that closed long ago; SLICE of each at most,
    the next sweep continues. Counts all kinds again, because an earlier version does not keep all counts."""
    unknown = select(Problem.id).where(
        Problem.closed_at.is_(None), Problem.kind.not_in(sorted(kinds())), Problem.opened_at < func.now() - UNKNOWN_KEPT
    )
    await _end(db, (await db.scalars(unknown.limit(SLICE))).all())
    await counting.count_all_again(db)
    old = select(Problem.id).where(Problem.closed_at < func.now() - CLOSED_KEPT, ~Problem.stands).limit(SLICE)
    removed = affected(await db.execute(delete(Problem).where(Problem.id.in_(old.scalar_subquery()))))
    if removed < SLICE:
        await db.execute(text("UPDATE problem_sweeps SET tidied_at = now()"))
