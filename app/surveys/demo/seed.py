"""SurveysDemo: makes and removes the demo's surveys and responses in a workspace. Its people: demo/people.py. Its apps
and their ratings: demo/library.py.

Responses go through the ledger like all others, and stay in it. Removed ones are under a tombstone and count nowhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, and_, delete, exists, func, not_, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.db.session import PLATFORM, workspace_of
from app.host import zone as host_zone
from app.host.applications import applications
from app.host.models import Application
from app.secrets import KeyRing
from app.surveys import languages_shown
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import Stored
from app.surveys.demo import apart, entries, programme, withdrawals
from app.surveys.demo import library as demo_library
from app.surveys.demo import people as demo_people
from app.surveys.demo import plan as demo_plan
from app.surveys.demo import rounds as demo_rounds
from app.surveys.demo.cast import APPS, DemoApp, DemoPerson, DemoSurvey
from app.surveys.demo.people import DemoAccount
from app.surveys.demo.plan import PlannedAnswer
from app.surveys.demo.withdrawals import Withdrawal
from app.surveys.models import PromptState, Response, Survey, Tombstone
from app.surveys.results import tally_marks

SEEDER = audit.Actor(None, "SurveysDemo")
_OURS = and_(Survey.demo, Survey.deleted_at.is_(None))
# The seed shows a survey on days before it was made, and people see it afterwards. With a survey, all its impressions
# are removed.
_GOING = and_(
    PromptState.survey_id == Survey.id,
    or_(PromptState.last_shown_at < Survey.created_at, Survey.deleted_at.is_not(None)),
)
_REAL = exists().where(Response.survey_id == Survey.id, Response.source != "demo")


@dataclass(slots=True)
class Made:
    """How much of each kind was made, would be made, or was removed."""

    surveys: int = 0
    people: int = 0
    responses: int = 0
    apps: int = 0
    ratings: int = 0


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a demo survey as it was stored: what an entry of the ledger needs."""

    survey: DemoSurvey
    stored: Stored
    published_at: datetime


async def seed(
    db: AsyncSession, keys: KeyRing, now: datetime, *, cast: Sequence[str] = (), crowd: int | None = None
) -> Made:
    """Adds what is missing; an existing demo survey is not touched, with all its answers.

    `cast` are e-mail addresses of accounts in this workspace for which the demo answers all but its newest survey;
    `crowd` is how many people it invents (None: people.CROWD).
    """
    planned = await plan(db, crowd)
    made = Made(surveys=len(planned.surveys), people=len(planned.people))
    await demo_people.make(db, planned.people)
    accounts = await demo_people.accounts(db, cast)
    versions = [version for survey in planned.surveys for version in await _make_survey(db, survey, now)]
    made.responses = await _answer(db, keys, versions, accounts, now)
    if workspace_of(db) == PLATFORM:
        raters = {one.email: (one.id, one.kind) for one in accounts if not one.waits}
        made.apps, made.ratings = await demo_library.make(db, SEEDER, planned.apps, raters, now)
    if made != Made():
        await audit.record(db, SEEDER, "demo.seed", "demo", "SurveysDemo", after=_told(made))
    return made


@dataclass(frozen=True, slots=True)
class Planned:
    """What a seed would add here. People are invented to answer and to rate, so without a survey or an app none are."""

    surveys: tuple[DemoSurvey, ...]
    people: tuple[DemoPerson, ...]
    apps: tuple[DemoApp, ...]


async def plan(db: AsyncSession, crowd: int | None = None) -> Planned:
    platform = workspace_of(db) == PLATFORM
    there = set(await db.scalars(select(Survey.title).where(Survey.demo, Survey.deleted_at.is_(None))))
    apps = set(await db.scalars(select(Application.name).where(applications.KEPT))) if platform else set()
    surveys = tuple(
        one for one in (programme.PLATFORM if platform else programme.TENANT) if one.definition.title not in there
    )
    wanted = tuple(one for one in APPS if one.name not in apps) if platform else ()
    return Planned(surveys, await demo_people.missing(db, crowd) if surveys or wanted else (), wanted)


@dataclass(frozen=True, slots=True)
class DemoRemoval:
    """What `remove` would do: titles and names of what it removes, and of what it archives or retires because real
    people answered or rated it; e-mail addresses of invented people whose accounts stay because somebody used them; and
    how many people, demo responses and ratings it removes."""

    surveys: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    people: int = 0
    responses: int = 0
    ratings: int = 0


async def leaving(db: AsyncSession) -> DemoRemoval:
    ours = (
        await db.execute(select(Survey.id, Survey.title, Survey.status, _REAL).where(_OURS).order_by(Survey.id))
    ).all()
    numbers = _numbers([row.id for row in ours]).subquery()
    responses = await db.scalar(select(func.count()).select_from(numbers)) or 0
    people, kept = await demo_people.leaving(db)
    apps, retired, rated = await demo_library.leaving(db) if workspace_of(db) == PLATFORM else ([], [], 0)
    return DemoRemoval(
        tuple(title for _, title, _, is_real in ours if not is_real),
        tuple(title for _, title, status, is_real in ours if is_real and status == "published"),
        tuple(apps),
        tuple(retired),
        kept,
        people,
        responses,
        rated,
    )


async def remove(db: AsyncSession) -> Made:
    """Soft-deletes exactly what `seed` made, and deletes its invented accounts and impressions. A survey that real
    people answered is archived with their answers, and an app that they rated is retired. A second call does
    nothing."""
    gone = Made()
    ids = list(await db.scalars(select(Survey.id).where(_OURS).with_for_update()))
    buried = insert(Tombstone).from_select(["number"], _numbers(ids)).returning(Tombstone.number)
    gone.responses = len((await db.execute(buried)).all())
    gone.surveys = await _remove_surveys(db, ids)
    await db.execute(delete(PromptState).where(Survey.id.in_(ids), _GOING))
    await tally_marks.recount(db, ids)
    if workspace_of(db) == PLATFORM:
        gone.apps, gone.ratings = await demo_library.remove(db)
    gone.people = await demo_people.remove(db)
    if gone != Made():
        await audit.record(db, SEEDER, "demo.remove", "demo", "SurveysDemo", before=_told(gone))
    return gone


def _told(counted: Made) -> dict[str, int]:
    """The form for the audit."""
    numbers = {"people": counted.people, "responses": counted.responses, "ratings": counted.ratings}
    return {"surveys": counted.surveys, **numbers}


def _numbers(ids: Sequence[int]) -> Select[int]:
    """The demo's responses to these surveys that are not removed yet."""
    return select(Response.number).where(
        Response.survey_id.in_(ids),
        Response.source == "demo",
        not_(exists().where(Tombstone.number == Response.number)),
    )


async def _remove_surveys(db: AsyncSession, ids: Sequence[int]) -> int:
    await db.execute(
        update(Survey).where(Survey.id.in_(ids), _REAL, Survey.status == "published").values(status="archived")
    )
    removed = update(Survey).where(Survey.id.in_(ids), not_(_REAL)).values(deleted_at=func.now(), status="archived")
    return len((await db.execute(removed.returning(Survey.id))).all())


async def _make_survey(db: AsyncSession, survey: DemoSurvey, now: datetime) -> list[Version]:
    """Makes every version that was published, oldest first. A tenant's ceiling does not limit the demo."""
    survey = apart.placed(demo_rounds.placed(survey, now, await host_zone.of(db)), now)
    uid = await authoring.create(db, SEEDER, survey.definition, "full")
    await db.execute(update(Survey).where(Survey.uid == uid).values(demo=True))
    versions = []
    for place, days in enumerate(survey.published):
        at = now - timedelta(days=days)
        if survey.definition.is_anonymous:
            await apart.publish(db, SEEDER, uid, at)
        elif place == 0:
            await authoring.publish(db, SEEDER, uid, at, "full")
        elif survey.definition.repeat:
            await demo_rounds.open_round(db, uid, at)
        else:
            definition = (await authoring.load(db, uid)).definition
            await authoring.save(db, SEEDER, uid, definition, revision=None, new_version=True, ceiling="full")
            await db.execute(update(Survey).where(Survey.uid == uid).values(published_at=at))
        versions.append(Version(survey, await authoring.load(db, uid), at))
    if survey.archived:
        await authoring.archive(db, SEEDER, uid)
    return versions


async def _answer(
    db: AsyncSession, keys: KeyRing, versions: Sequence[Version], accounts: Sequence[DemoAccount], now: datetime
) -> int:
    """Writes impressions, and the responses into the ledger in the order of their times; returns how many."""
    by_email = {one.email: one for one in accounts}
    happened = [pair for own in _lives(versions) for pair in _happened(own, by_email, now)]
    await _note_impressions(db, happened, by_email)
    answered = sorted(((version, what) for version, what in happened if what.at), key=lambda pair: pair[1].at or now)
    for version in versions:
        for tag in version.stored.definition.translations:
            await languages_shown.note(db, version.stored.id, version.stored.version, tag)
    agreed: list[tuple[Version, int]] = []
    for version, what in answered:
        entry = entries.of(version.stored, what, by_email[what.person].id)
        row = await apart.append(db, keys, entry, version.stored.definition)
        if what.outcome == "agreed" and not by_email[what.person].waits:
            agreed.append((version, row.number))
    await withdrawals.write(db, keys, _taken_back(agreed, now))
    await apart.close(db, keys, {version.stored.uid for version in versions}, now)
    return len(answered)


def _taken_back(agreed: Sequence[tuple[Version, int]], now: datetime) -> list[Withdrawal]:
    """The first of those who agreed, in the last hours."""
    found: list[Withdrawal] = []
    for one in {version.stored.uid: version for version, _ in agreed}.values():
        numbers = [number for version, number in agreed if version.stored.uid == one.stored.uid]
        found += [Withdrawal(one.stored.uid, number, now) for number in numbers[: one.survey.withdrawn]]
    return [replace(one, at=now - timedelta(hours=1) * left / len(found)) for left, one in enumerate(found[::-1])][::-1]


def _lives(versions: Sequence[Version]) -> list[dict[int, Version]]:
    """The versions of each survey, by number."""
    lives: dict[UUID, dict[int, Version]] = {}
    for one in versions:
        lives.setdefault(one.stored.uid, {})[one.stored.version] = one
    return list(lives.values())


def _happened(
    own: dict[int, Version], by_email: dict[str, DemoAccount], now: datetime
) -> Iterator[tuple[Version, PlannedAnswer]]:
    """What each person saw and did. People who sign in saw only the newest version, and answered it unless it waits for
    them."""
    survey, newest = own[max(own)].survey, max(own)
    people_ = [(account.email, account.kind) for account in by_email.values()]
    for what in demo_plan.asked(survey, people_, now):
        if not by_email[what.person].waits:
            yield own[what.version], what
        elif what.version == newest and not survey.pending:
            yield own[newest], _done(what, survey, now)


def _done(what: PlannedAnswer, survey: DemoSurvey, now: datetime) -> PlannedAnswer:
    """Counts them as having answered, so that only one survey waits for them."""
    if what.outcome is not None:
        return what
    outcome = "agreed" if survey.definition.agreement else "opted_out"
    return replace(what, outcome=outcome, at=(what.shown_at or now) + timedelta(seconds=30), values=())


async def _note_impressions(
    db: AsyncSession, happened: Sequence[tuple[Version, PlannedAnswer]], by_email: dict[str, DemoAccount]
) -> None:
    rows = [
        {
            "survey_id": version.stored.id,
            "version": version.stored.version,
            "user_id": by_email[what.person].id,
            "impressions": what.impressions,
            "first_shown_at": what.shown_at,
            "last_shown_at": what.shown_at,
        }
        for version, what in happened
        if what.shown_at
    ]
    if rows:
        await db.execute(insert(PromptState).on_conflict_do_nothing(), rows)
