"""Erasing a person from what they were asked: destroys the key of their evidence, and the comments of their app
ratings.

Answers, the chain that proves them and the stars of ratings stay.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.accounts.erased import ERASE
from app.counting import count
from app.db.session import PLATFORM, Database
from app.surveys.ledger import evidence
from app.surveys.ratings import ratings


@dataclass(frozen=True, slots=True)
class EvidenceOwner:
    """A user of the workspace. What they answered to the platform's surveys is in the platform's ledger."""

    id: int
    email: str
    workspace: str

    @property
    def ledgers(self) -> tuple[str, ...]:
        """The workspaces that may hold something of this person."""
        return tuple(dict.fromkeys((self.workspace, PLATFORM)))


@dataclass(frozen=True, slots=True)
class Held:
    """What is stored of one person, or what was destroyed: responses in the ledger, how many of them have evidence that
    can be opened, how many of those have free texts; changes of agreements with evidence that can be opened; live keys;
    app ratings, and how many have a comment."""

    responses: int = 0
    evidence: int = 0
    texts: int = 0
    changes: int = 0
    keys: int = 0
    ratings: int = 0
    comments: int = 0
    erased_at: datetime | None = None

    @property
    def anything(self) -> bool:
        """True when erasing would change anything."""
        return bool(self.keys or self.comments)

    @property
    def goes(self) -> tuple[str, ...]:
        """What erasing destroys, for the person who is about to do it."""
        told = (
            (
                self.evidence,
                f"IP address and browser of {count(self.evidence, 'response', 'responses')} can no longer be read.",
            ),
            (
                self.changes,
                f"IP address and browser of {count(self.changes, 'change', 'changes')} of agreements can no longer be read.",
            ),
            (self.texts, f"Written answers: the free texts of {count(self.texts, 'response', 'responses')} are gone."),
            (self.comments, f"Comments: those of {count(self.comments, 'app rating', 'app ratings')} are gone."),
        )
        return (
            *(sentence for number, sentence in told if number),
            "The audit says “Erased person” in place of their name.",
        )

    @property
    def stays(self) -> tuple[str, ...]:
        stars = (f"The stars of {count(self.ratings, 'app rating', 'app ratings')}.",) if self.ratings else ()
        return (
            f"{count(self.responses, 'response', 'responses')} in the ledger: what was chosen, when, and the hash that proves it.",
            *stars,
            "What they answered to anonymous surveys: it is kept apart from names, so it can’t be found.",
            "The account and what the time clock recorded. If they answer again, they get a new key.",
            "Backups that were made before still hold the key, until they are destroyed.",
        )

    def __add__(self, other: "Held") -> "Held":
        numbers = {one: getattr(self, one) + getattr(other, one) for one in _NUMBERS}
        return Held(**numbers, erased_at=max(filter(None, (self.erased_at, other.erased_at)), default=None))


_NUMBERS = ("responses", "evidence", "texts", "changes", "keys", "ratings", "comments")


async def held(database: Database, person: EvidenceOwner) -> Held:
    """In the person's own workspace and on the platform together."""
    total = Held()
    for workspace in person.ledgers:
        async with database.transaction(workspace) as db:
            total += await _held(db, person)
    return total


async def erase(database: Database, actor: Actor, person: EvidenceOwner) -> Held:
    """Destroys the keys of everything that `held` counted, and the comments of app ratings; returns what there was.

    Each ledger has a transaction of its own, the person's own ledger comes last: after an interruption, it can simply
    be repeated. Answers and the chain stay.
    """
    total = Held()
    for workspace in reversed(person.ledgers):
        async with database.transaction(workspace) as db:
            total += await _erase(db, actor, person)
    return total


async def _erase(db: AsyncSession, actor: Actor, person: EvidenceOwner) -> Held:
    before = await _held(db, person)
    await evidence.destroy_keys(db, person.id)
    await ratings.forget_comments(db, person.id)
    destroyed = {"keys": before.keys, "evidence": before.evidence, "texts": before.texts, "comments": before.comments}
    if before.changes:
        destroyed["changes"] = before.changes
    await audit.record(db, actor, ERASE, "user", person.id, before=destroyed, after=dict.fromkeys(destroyed, 0))
    return before


async def _held(db: AsyncSession, person: EvidenceOwner) -> Held:
    told, rated = await evidence.held(db, person.id), await ratings.held(db, person.id)
    return Held(**told._mapping, ratings=rated.ratings, comments=rated.comments)  # noqa: SLF001 - SQLAlchemy's own name for it
