"""Records one answer to one survey, from the API or the web prompt: the checks in their order, then the ledger, or a
snooze. Who may answer, and if the request can be read, is checked before this."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

import asyncpg
from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import PLATFORM, workspace_of
from app.errors import InvalidBody
from app.secrets import KeyRing
from app.surveys.anonymous import casting
from app.surveys.asking import pacing, situations
from app.surveys.asking import queue as asking
from app.surveys.asking.respondent import Respondent, Transactions
from app.surveys.asking.situations import Met
from app.surveys.item import ItemQuestion
from app.surveys.ledger import answers, people, translated_answers
from app.surveys.ledger import append as ledger
from app.surveys.ledger.answers import Answered, Given
from app.surveys.ledger.entries import Entry, RecordedEntry
from app.surveys.ledger.errors import ActionNotAllowed, SurveyNotFound, VersionSuperseded
from app.surveys.ledger.same_answers import same
from app.surveys.models import Response, Wording
from app.surveys.words import OUTCOME_OF
from app.webhooks import noting

_WORDS_MET = (
    select(Wording.content_hash)
    .join(Response, Response.wording_id == Wording.id)
    .where(
        Response.survey_id == bindparam("survey"),
        Response.version == bindparam("version"),
        Response.person == people.number(),
    )
)


# What was answered, and the group of the person.
Apart = tuple[tuple[Answered, ...], str | None]


@dataclass(frozen=True, slots=True)
class SentReply:
    """What was sent. `version` and `content_hash` say which words the person saw, `language` in which language; None
    when the sender does not say. The portal sends options in the survey's own words in any language (`in_own_words`),
    an app sends them as the person reads them."""

    survey: UUID
    action: str
    answers: tuple[Given, ...] = ()
    version: int | None = None
    content_hash: str | None = None
    language: str | None = None
    in_own_words: bool = False


@dataclass(frozen=True, slots=True)
class RespondResult:
    """`version` is the recorded one. A snooze has only `snoozed_until`, everything else all but that. `closing_html` is
    what the author says after an answer to the present words, None without it."""

    status: Literal["recorded", "already_recorded", "snoozed", "opted_out"]
    survey: UUID
    version: int
    outcome: str | None = None
    recorded_at: datetime | None = None
    receipt: str | None = None
    snoozed_until: datetime | None = None
    closing_html: str | None = None


@dataclass(frozen=True, slots=True)
class _Sent:
    """A reply with its sender. `keys` open the ledger's sealed values."""

    who: Respondent
    reply: SentReply
    source: str
    keys: KeyRing

    @property
    def languages(self) -> tuple[str, ...]:
        """The language in the reply, otherwise those of the person."""
        return (self.reply.language,) if self.reply.language else self.who.languages

    def given(self, questions: Sequence[ItemQuestion]) -> tuple[Given, ...]:
        """The answers in the survey's own words. `questions` are as the person read them."""
        return (
            self.reply.answers
            if self.reply.in_own_words
            else translated_answers.in_own_words(questions, self.reply.answers)
        )


@dataclass(frozen=True, slots=True)
class _Due:
    """A reply to be recorded in the ledger of `workspace`. `apart` are answers that must not be in the ledger: those to
    an anonymous survey."""

    workspace: str
    met: Met
    entry: Entry
    apart: Apart | None = None


async def respond(who: Respondent, within: Transactions, reply: SentReply, source: str) -> RespondResult:
    """Records the reply. `source`: web or api. When this returns, the reply is on the disk, and the transaction
    `within.db` has ended.

    Raises InvalidBody, SurveyNotFound, VersionSuperseded, ActionNotAllowed and InvalidAnswers, in this order. When the
    same reply comes again and names the version for which it was recorded, it is accepted before all checks but the
    first.
    """
    if wrong := answers.malformed(reply.answers):
        raise InvalidBody("Some answers can't be read.", details=wrong)
    sent = _Sent(who, reply, source, within.parts.keys)
    decided = await _decide(sent, within)
    if isinstance(decided, _Due):
        return await _record(sent, within, decided)
    if decided.status == "already_recorded":
        await _wait_for_the_disk(within)
    return decided


async def check(who: Respondent, within: Transactions, reply: SentReply, source: str) -> RespondResult | None:
    """Refuses what `respond` would refuse of an answer, agreement or disagreement, and records nothing. Returns the
    first receipt if the same was recorded already."""
    if wrong := answers.malformed(reply.answers):
        raise InvalidBody("Some answers can't be read.", details=wrong)
    decided = await _decide(_Sent(who, reply, source, within.parts.keys), within)
    return None if isinstance(decided, _Due) else decided


async def _decide(sent: _Sent, within: Transactions) -> RespondResult | _Due:
    met = await situations.one(within.db, sent.who.user_id, sent.reply.survey, sent.languages)
    if met is not None:
        return await _judge(sent, within.db, met)
    if sent.who.on_platform:
        raise SurveyNotFound
    async with within.inside(PLATFORM) as db:
        met = await situations.one(db, sent.who.user_id, sent.reply.survey, sent.languages)
        if met is None:
            raise SurveyNotFound
        return await _judge(sent, db, met)


async def _judge(sent: _Sent, db: AsyncSession, met: Met) -> RespondResult | _Due:
    who, reply = sent.who, sent.reply
    if first := await _repeated(sent, db, met, reply.version):
        return first
    now = datetime.now(UTC)
    verdict = pacing.judge(met.situation.offer, met.situation.state, who.caller, now, pacing.Gap())
    if not verdict.answerable and verdict.reason != "done":
        raise SurveyNotFound
    if _names_other_words(reply, met):
        raise VersionSuperseded
    if verdict.reason == "done":
        if first := await _repeated(sent, db, met, met.item.version):
            return first
        raise SurveyNotFound
    if reply.action not in met.item.actions:
        raise ActionNotAllowed(reply.action, met.item.actions)
    given = answers.read(met.item.questions, reply.action, sent.given(met.item.questions))
    await asking.note_language(db, met.situation, met.item)
    if reply.action == "snooze":
        until = await asking.snooze(db, who.user_id, met.situation, now)
        return RespondResult("snoozed", met.item.survey, met.item.version, snoozed_until=until)
    entry = _entry(sent, met, given, now)
    if not met.item.is_anonymous:
        return _Due(workspace_of(db), met, entry)
    group = await casting.group_of(db, who.user_id, met.item.split) if given else None
    return _Due(workspace_of(db), met, replace(entry, answers=(), language=None), (given, group) if given else None)


def _names_other_words(reply: SentReply, met: Met) -> bool:
    return (reply.version or met.item.version, reply.content_hash or met.item.content_hash) != (
        met.item.version,
        met.item.content_hash,
    )


async def _repeated(sent: _Sent, db: AsyncSession, met: Met, version: int | None) -> RespondResult | None:
    """The first receipt, when this is the same reply to the same words of `version` again. For an anonymous survey
    every reply counts as the same: the first answer is not known, and this must not reveal it."""
    if version is None or not _may_be_recorded(met, version):
        return None
    first = await ledger.recorded(db, sent.keys, met.situation.id, version, sent.who.user_id)
    if first is None:
        return None
    same = met.item.is_anonymous or (_says_the_same(first, sent) and await _names_its_words(sent, db, met, version))
    return _answer("already_recorded", met, first) if same else None


def _may_be_recorded(met: Met, version: int) -> bool:
    """The current version was read already; only the ledger knows other versions."""
    return version != met.item.version or met.situation.state.outcome is not None


async def _names_its_words(sent: _Sent, db: AsyncSession, met: Met, version: int) -> bool:
    """True when the reply names no hash, or the hash of the words for which the first one was recorded."""
    named = sent.reply.content_hash
    if named is None or (version, named) == (met.item.version, met.item.content_hash):
        return True
    given = {"survey": met.situation.id, "version": version, "user": sent.who.user_id}
    return await db.scalar(_WORDS_MET, given) == named


def _entry(sent: _Sent, met: Met, given: tuple[Answered, ...], now: datetime) -> Entry:
    if met.situation.wording_id is None:
        raise RuntimeError("a published survey has its wording")
    return Entry(
        survey_id=met.situation.id,
        survey=met.item.survey,
        version=met.item.version,
        wording_id=met.situation.wording_id,
        content_hash=met.item.content_hash,
        user_id=sent.who.user_id,
        outcome=OUTCOME_OF[sent.reply.action],
        source=sent.source,
        answers=given,
        ip=sent.who.ip,
        browser=sent.who.browser,
        token_made_by=sent.who.token_made_by,
        recorded_at=now,
        shown=met.shown,
        language=met.item.language if met.item.has_translations else None,
    )


async def _record(sent: _Sent, within: Transactions, due: _Due) -> RespondResult:
    """Of several requests at once, the first is recorded; the others repeat it, or come too late."""
    worded = ledger.Worded({str(one.key): one.type for one in due.met.item.questions}, due.met.person, due.met.key)
    async with within.alone() as connection:
        recorded = await _write(sent, connection, due, worded)
        if recorded and recorded.told:
            await noting.ask_past_session(connection, due.workspace)
    if recorded is None:
        async with within.parts.database.transaction(due.workspace) as db:
            recorded = await _first(sent, db, due)
    if recorded.fresh:
        return _answer("opted_out" if sent.reply.action == "opt_out" else "recorded", due.met, recorded)
    if not due.met.item.is_anonymous and not _says_the_same(recorded, sent):
        raise SurveyNotFound
    return _answer("already_recorded", due.met, recorded)


async def _write(sent: _Sent, connection: asyncpg.Connection, due: _Due, worded: ledger.Worded) -> RecordedEntry | None:
    """Writes the reply, with the ballot of an anonymous survey. None also when that survey was closed meanwhile."""
    if due.apart is None:
        return await ledger.write(connection, due.workspace, sent.keys, due.entry, worded)
    ballot = await casting.cast(connection, due.workspace, sent.keys, due.entry, due.apart)
    if ballot is None:
        return None
    return await ledger.write(connection, due.workspace, sent.keys, due.entry, worded, ballot=ballot)


async def _first(sent: _Sent, db: AsyncSession, due: _Due) -> RecordedEntry:
    """What the person recorded before. Raises VersionSuperseded when there is nothing and the words changed,
    SurveyNotFound when the version was closed."""
    try:
        return await ledger.winner(db, sent.keys, due.entry)
    except VersionSuperseded:
        if due.apart and await casting.is_closed(db, due.entry.survey_id, due.entry.version):
            raise SurveyNotFound from None
        raise


async def _wait_for_the_disk(within: Transactions) -> None:
    """Another request's row can be read a moment before it is on the disk, and no receipt may be given before that."""
    async with within.alone():
        pass


def _says_the_same(first: RecordedEntry, sent: _Sent) -> bool:
    """True when both say the same, in any language that the words of the first have."""
    if OUTCOME_OF.get(sent.reply.action) != first.outcome:
        return False
    given = sent.reply.answers
    if first.words and not sent.reply.in_own_words:
        given = sent.given(translated_answers.questions_in(*first.words, sent.languages))
    return same(first.answers, given)


def _answer(
    status: Literal["recorded", "already_recorded", "opted_out"], met: Met, row: RecordedEntry
) -> RespondResult:
    was_answered = row.outcome != "opted_out" and row.version == met.item.version
    closing = met.item.closing_html if was_answered else ""
    return RespondResult(
        status, met.item.survey, row.version, row.outcome, row.recorded_at, row.receipt, closing_html=closing or None
    )
