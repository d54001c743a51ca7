"""What is known of a mail when its turn comes, and who writes it. Modules name their writers in `LETTERS` of their jobs.py."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.mail.letters import Letter
from app.parts import Parts


@dataclass(slots=True)
class MailInTurn:
    """`facts` and `expires_at` may be changed by the writer; they are kept for the next attempt."""

    workspace: str
    kind: str
    user_id: int | None
    created_at: datetime
    expires_at: datetime
    facts: dict[str, Any] = field(repr=False)


# Writes the letter in the mail's workspace; None where nothing is left to say, or where the person may not be told.
Writer = Callable[[Parts, AsyncSession, MailInTurn], Awaitable[Letter | None]]
Writers = Mapping[str, Writer]
