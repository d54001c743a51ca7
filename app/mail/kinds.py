"""A mail when its turn comes, and its writer. Modules name their writers in `LETTERS` of their jobs.py."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.mail.letters import Letter
from app.parts import Parts


@dataclass(slots=True)
class MailInTurn:
    """The writer may change `facts` and `expires_at`; the next attempt gets them."""

    workspace: str
    kind: str
    user_id: int | None
    created_at: datetime
    expires_at: datetime
    facts: dict[str, Any] = field(repr=False)


# Writes the letter in the mail's workspace. Returns None when nothing is left to say, or the person may not be told.
Writer = Callable[[Parts, AsyncSession, MailInTurn], Awaitable[Letter | None]]
Writers = Mapping[str, Writer]
