"""Withdrawing an agreement, and giving it again. Each is a row of the ledger after the response, which itself stays as
it is.

Withdrawing is always possible; agreeing again only while this person is asked that version.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Literal

import asyncpg

from app.db.session import alone
from app.errors import Conflict, NotFound
from app.surveys.asking.respondent import Respondent, Transactions
from app.surveys.ledger import chain, changes
from app.surveys.ledger.changes import Change
from app.surveys.ledger.entries import LONGEST_BROWSER, LONGEST_IP
from app.surveys.ledger.evidence import Evidence
from app.surveys.mine import reading
from app.surveys.mine.reading import MyAnswer
from app.surveys.mine.words import NO_SUCH_ANSWER, NOT_AN_AGREEMENT, WHY_NOT
from app.webhooks import noting

Wanted = Literal["withdrawn", "agreed"]


class ChangeNotAllowed(Conflict):
    """Not an agreement, or one whose version this person is no longer asked."""

    code = "action_not_allowed"


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """`receipt` is that of the response; `changed_at` and `change_receipt` are those of the row that gave it its
    present standing: the response itself, if it was never changed."""

    status: Literal["recorded", "already_recorded"]
    receipt: str
    standing: str
    changed_at: datetime
    change_receipt: str


def bytes_of(receipt: str) -> bytes:
    """Raises NotFound for text that is not a receipt."""
    if not chain.RECEIPT.fullmatch(receipt):
        raise NotFound(NO_SUCH_ANSWER)
    return bytes.fromhex(receipt)


async def withdraw(who: Respondent, within: Transactions, receipt: str, source: str) -> ChangeResult:
    """Their agreement no longer counts. `source`: web or api. When this returns, it is on the disk, and the transaction
    `within.db` has ended. A second withdrawal returns the first. Raises NotFound, ChangeNotAllowed."""
    return await _change(who, within, receipt, source, "withdrawn")


async def agree_again(who: Respondent, within: Transactions, receipt: str, source: str) -> ChangeResult:
    """A withdrawn agreement counts again. Everything else as `withdraw`."""
    return await _change(who, within, receipt, source, "agreed")


async def _change(who: Respondent, within: Transactions, receipt: str, source: str, wanted: Wanted) -> ChangeResult:
    found = await reading.find(who, within, bytes_of(receipt))
    alone_in: Callable[[], AbstractAsyncContextManager[asyncpg.Connection]] = within.alone
    while not _stands(found, wanted):
        change = _next(who, found, source, datetime.now(UTC))
        async with alone_in() as connection:
            made = await changes.write(connection, found.workspace, within.parts.keys, change)
            if made and made.told:
                await noting.ask_past_session(connection, found.workspace)
        if made is not None:
            return ChangeResult("recorded", receipt, wanted, made.recorded_at, made.receipt)
        # Another tab or an author was faster. What they did decides now.
        async with within.parts.database.transaction(found.workspace) as db:
            now = await reading.one(db, who, within.parts.keys, bytes.fromhex(receipt))
        if now is None:  # A demo answer that was removed meanwhile.
            raise NotFound(NO_SUCH_ANSWER)
        found = now
        alone_in = partial(_alone, within, found.workspace)
    # Another request's row can be read a moment before it is on the disk, and no receipt may be given before that.
    async with alone_in():
        return _told(found, wanted)


@asynccontextmanager
async def _alone(within: Transactions, workspace: str) -> AsyncIterator[asyncpg.Connection]:
    """As `within.alone`, which ends the request's own transaction."""
    async with within.parts.database.transaction(workspace) as db, alone(db) as connection:
        yield connection


def _stands(found: MyAnswer, wanted: Wanted) -> bool:
    """Raises ChangeNotAllowed when the answer has not the wanted standing and may not get it."""
    if found.agreement is None:
        raise ChangeNotAllowed(NOT_AN_AGREEMENT)
    if found.standing == wanted:
        return True
    if wanted == "agreed" and found.why_not is not None:
        raise ChangeNotAllowed(WHY_NOT[found.why_not])
    return False


def _next(who: Respondent, found: MyAnswer, source: str, now: datetime) -> Change:
    if found.agreement is None:
        raise RuntimeError("only an agreement is changed")
    ip, browser = (who.ip or "")[:LONGEST_IP] or None, (who.browser or "")[:LONGEST_BROWSER] or None
    return Change(found.agreement, source, now, Evidence(ip=ip, browser=browser, token_made_by=who.token_made_by))


def _told(found: MyAnswer, wanted: Wanted) -> ChangeResult:
    last = found.changes[-1] if found.changes else found
    return ChangeResult("already_recorded", found.receipt, wanted, last.recorded_at, last.receipt)
