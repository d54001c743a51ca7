"""Writes the letters when their turn comes, after checking once more who may be told, and that it still holds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from zoneinfo import ZoneInfo

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import schedule_looks
from app.alerts import letters, people, timing, waiting
from app.alerts.letters import LetterWords, ManyNews, ToldProblem
from app.alerts.models import ProblemAlert
from app.alerts.people import AlertReader
from app.alerts.telling import ALERT, DIGEST, STORM, SUM
from app.dates import PageZone
from app.db.among import among
from app.db.locks import hold_name
from app.db.session import workspace_of
from app.mail import unsubscribing
from app.mail.kinds import MailInTurn, Writers
from app.mail.letters import Letter
from app.parts import Parts
from app.problems.kinds import kinds, place_of
from app.problems.models import Problem

# All of them, whatever view the person opens that list with.
PROBLEMS_PAGE = "/problems?view=all"


async def write_alert(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    """None when the person may not be told or has chosen otherwise, and when the problem closed or opened again since:
    then another mail says so."""
    person = await people.reader(db, mail.user_id)
    problem = await db.get(Problem, mail.facts["problem"])
    if person is None or problem is None or not person.wants(problem.kind, problem.severity):
        return None
    if (problem.closed_at is not None) != (mail.facts["news"] == "closed"):
        if problem.closed_at:
            await _missed(db, mail, person.user_id)
        return None
    say = letters.closed if problem.closed_at else letters.opened
    place = ("Open it in Muster", place_of(problem) or PROBLEMS_PAGE)
    return _letter(parts, person, say(_told(problem), _zone(person)), place, unsubscribing.ALERTS)


async def _missed(db: AsyncSession, mail: MailInTurn, user_id: int) -> None:
    """Notes that the mail about an opening was not sent. The problem may open again before its closing is told: a mail
    about an earlier opening changes nothing about the new one."""
    await hold_name(db, "alerts")
    known = await waiting.of_problems(db, and_(Problem.id == mail.facts["problem"], ProblemAlert.user_id == user_id))
    now = datetime.now(UTC)
    of_now = [one for one in known if one.alert.opened_at <= mail.created_at]
    await waiting.write(db, [replace(one, alert=timing.missed(one.alert, now)) for one in of_now])
    schedule_looks.look_soon(db, workspace_of(db))


async def write_storm(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    return await _many(parts, db, mail, "storm", unsubscribing.ALERTS)


async def write_digest(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    return await _many(parts, db, mail, "digest", unsubscribing.DIGEST)


async def write_sum(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    return await _many(parts, db, mail, "sum", unsubscribing.ALERTS)


async def _many(parts: Parts, db: AsyncSession, mail: MailInTurn, news: ManyNews, topic: str) -> Letter | None:
    """None when the person may see none of these problems, or has ended such mails."""
    person = await people.reader(db, mail.user_id)
    if person is None or await unsubscribing.refuses(db, person.user_id, topic):
        return None
    opened, closed = (_seen(person, mail.facts.get(what, {})) for what in ("opened", "closed"))
    if not opened and not closed:
        return None
    named = await _named(db, person, mail.facts.get("named", []))
    words = letters.many(news, opened, closed, named, _zone(person))
    return _letter(parts, person, words, ("Open the problems", PROBLEMS_PAGE), topic)


def _seen(person: AlertReader, sums: Mapping[str, int]) -> dict[str, int]:
    return {kinds()[kind].label: number for kind, number in sums.items() if kind in person.kinds}


async def _named(db: AsyncSession, person: AlertReader, problem_ids: Sequence[int]) -> list[ToldProblem]:
    found = {one.id: one for one in await db.scalars(select(Problem).where(among(Problem.id, problem_ids)))}
    return [_told(found[one]) for one in problem_ids if one in found and found[one].kind in person.kinds]


def _told(problem: Problem) -> ToldProblem:
    return ToldProblem(
        problem.title,
        problem.detail,
        kinds()[problem.kind].advice,
        problem.severity,
        problem.since,
        problem.held_punches,
        problem.held_people,
        problem.closed_at,
        problem.closed_by,
    )


def _zone(person: AlertReader) -> PageZone:
    return PageZone.at(ZoneInfo(person.rules.zone), datetime.now(UTC))


def _letter(parts: Parts, person: AlertReader, words: LetterWords, link: tuple[str, str], topic: str) -> Letter:
    site = parts.settings.base_url
    return Letter(
        person.email,
        words.subject,
        (f"Hello {person.name},", *words.lines),
        (link[0], f"{site}{link[1]}"),
        (letters.why(site, chose=person.chose),),
        unsubscribing.link(parts, person.user_id, topic),
    )


LETTERS: Writers = MappingProxyType({ALERT: write_alert, STORM: write_storm, DIGEST: write_digest, SUM: write_sum})
