"""Every column that holds sealed text: bringing all to the first key, and counting what does not open.
Sealing: app.secrets."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy import Table, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import ClockSignIn, Tenant, User
from app.clock.models import Connection
from app.db.base import Base
from app.db.session import PLATFORM, Database
from app.mail.models import OutgoingMail
from app.secrets import KeyRing, Place, SecretError
from app.surveys.anonymous.models import BallotKey
from app.surveys.models import PersonKey
from app.webhooks.models import WebhookEndpoint

BATCH = 200


@dataclass(frozen=True, slots=True)
class Sealed:
    """One column of sealed text, in rows told apart by `id`. Rows of a shared table belong to the workspace they name;
    where they name none, to the platform.

    `bound_to` is the column that the text is bound to: `id`, but for rows that get theirs only once they are sealed.
    """

    table: Table
    column: str
    bound_to: str = "id"

    @property
    def name(self) -> str:
        return f"{self.table.name}.{self.column}"

    def place(self, workspace: str, bound_to: int | str) -> Place:
        return Place(self.table.name, self.column, workspace, str(bound_to))

    def rows(self, workspace: str, after: int) -> Any:
        """Up to BATCH rows that hold something, as (id, what it is bound to, sealed), by id."""
        sealed = self.table.c[self.column]
        bound_to = self.table.c[self.bound_to].label("bound_to")
        statement = select(self.table.c.id, bound_to, sealed).where(sealed.is_not(None), self.table.c.id > after)
        if "workspace" in self.table.c:
            statement = statement.where(self.table.c.workspace == workspace)
        return statement.order_by(self.table.c.id).limit(BATCH)


def _table(model: type[Base]) -> Table:
    return cast("Table", model.__table__)


SEALED: tuple[Sealed, ...] = (
    Sealed(_table(User), "totp_secret"),
    Sealed(_table(Connection), "password"),
    Sealed(_table(Connection), "tokens"),
    Sealed(_table(PersonKey), "sealed_key", bound_to="user_id"),
    Sealed(_table(BallotKey), "sealed_key", bound_to="survey_id"),
    Sealed(_table(OutgoingMail), "facts", bound_to="message_key"),
    Sealed(_table(WebhookEndpoint), "secret", bound_to="uid"),
    Sealed(_table(WebhookEndpoint), "secret_before", bound_to="uid"),
)
OF_ALL: tuple[Sealed, ...] = (Sealed(_table(ClockSignIn), "tokens"),)


@dataclass(slots=True)
class Rotation:
    """How many texts were sealed again, how many had the first key already, and where some did not open."""

    rotated: int = 0
    unchanged: int = 0
    broken: list[str] = field(default_factory=list)


async def rotate(database: Database, keys: KeyRing) -> Rotation:
    """Seals everything with the first key, some rows per transaction. After an interruption, the next call continues
    from there."""
    total = Rotation()
    async for workspace, sealed in _everywhere(database):
        after = -1
        while True:
            async with database.transaction(workspace) as db:
                rows = (await db.execute(sealed.rows(workspace, after).with_for_update())).all()
                await _rotate_rows(db, keys, (workspace, sealed), rows, total)
            if len(rows) < BATCH:
                break
            after = rows[-1].id
    return total


async def _rotate_rows(
    db: AsyncSession, keys: KeyRing, where: tuple[str, Sealed], rows: Sequence[Any], total: Rotation
) -> None:
    workspace, sealed = where
    for row_id, bound_to, text in rows:
        try:
            renewed = keys.rotated(text, sealed.place(workspace, bound_to))
        except SecretError:
            total.broken.append(f"{workspace}: {sealed.name}, row {row_id}")
            continue
        if renewed == text:
            total.unchanged += 1
            continue
        statement = update(sealed.table).where(sealed.table.c.id == row_id)
        await db.execute(statement.values({sealed.column: renewed}))
        total.rotated += 1


async def examine(database: Database, keys: KeyRing) -> Rotation:
    """What `rotate` would do; nothing is written."""
    total = Rotation()
    async for workspace, sealed in _everywhere(database):
        after = -1
        while True:
            async with database.transaction(workspace) as db:
                rows = (await db.execute(sealed.rows(workspace, after))).all()
            for row_id, bound_to, text in rows:
                if not _opens(keys, sealed.place(workspace, bound_to), text, total):
                    total.broken.append(f"{workspace}: {sealed.name}, row {row_id}")
            if len(rows) < BATCH:
                break
            after = rows[-1].id
    return total


def _opens(keys: KeyRing, place: Place, text: str, total: Rotation) -> bool:
    try:
        keys.open(text, place)
        waits = keys.needs_rotation(text)
    except SecretError:
        return False
    total.rotated += waits
    total.unchanged += not waits
    return True


async def _everywhere(database: Database) -> AsyncIterator[tuple[str, Sealed]]:
    async with database.shared_transaction() as db:
        tenants = (await db.scalars(select(Tenant.key).order_by(Tenant.key))).all()
    for workspace in (PLATFORM, *tenants):
        for sealed in SEALED:
            yield workspace, sealed
    for sealed in OF_ALL:
        yield PLATFORM, sealed
