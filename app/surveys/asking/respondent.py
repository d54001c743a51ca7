"""Who is asked, and the transactions for it. Both come from the request, which no verb of this room knows."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import PLATFORM
from app.parts import Parts
from app.surveys.asking.pacing import Caller


@dataclass(frozen=True, slots=True)
class Respondent:
    """`session_id` is the number of their browser session, 0 with a token; `gap_hours` is the policy of their own
    workspace; `can` is what their app can show beside the first six types of questions (`question_details.ABILITIES`),
    None for the portal, which can show all; `languages` are tags of what they read, best first."""

    user_id: int
    caller: Caller
    session_id: int
    gap_hours: int
    ip: str | None = None
    browser: str | None = None
    token_made_by: str | None = None
    can: frozenset[str] | None = None
    languages: tuple[str, ...] = ()

    @property
    def workspace(self) -> str:
        return self.caller.workspace

    @property
    def on_platform(self) -> bool:
        return self.workspace == PLATFORM

    def can_show(self, needs: Collection[str]) -> bool:
        """True when their app, or the portal, can show a survey with these needs."""
        return not needs or self.can is None or self.can.issuperset(needs)


class Transactions(Protocol):
    """`db` is a transaction in the respondent's own workspace. Two are never open at once: `inside` another workspace
    and `alone` end it first. After `alone`, `db` is closed until the request opens a new one."""

    @property
    def parts(self) -> Parts: ...

    @property
    def db(self) -> AsyncSession: ...

    def inside(self, workspace: str) -> AbstractAsyncContextManager[AsyncSession]: ...

    def alone(self) -> AbstractAsyncContextManager[asyncpg.Connection]: ...
