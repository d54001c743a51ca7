"""Short ways to have a password, a second factor, and to sign in as a browser does."""

import re
from datetime import UTC, datetime
from typing import Any

import httpx
import pyotp
from argon2 import PasswordHasher
from sqlalchemy import select, update

from app.accounts import second_factor, signing_in
from app.accounts.models import AuditEntry, User
from app.db.session import Database
from app.parts import Parts
from app.secrets import Secret
from tests.conftest import Browser

PASSWORD = "correct horse battery staple"
ANOTHER = "a sentence that is easy to remember"
_hash_for_little = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash
_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


async def user_id_of(database: Database, short: str) -> int:
    async with database.shared_transaction() as db:
        return (await db.scalars(select(User.id).where(User.email == f"{short}@example.org"))).one()


async def user_of(database: Database, short: str) -> User:
    async with database.shared_transaction() as db:
        return (await db.scalars(select(User).where(User.email == f"{short}@example.org"))).one()


async def give_password(database: Database, short: str, password: str = PASSWORD) -> int:
    """One of a hash that costs nothing to check: the tests sign in hundreds of times.
    `give_costly_password` is as in life."""
    return await _give(database, short, _hash_for_little(password))


async def give_costly_password(database: Database, short: str, password: str = PASSWORD) -> int:
    return await _give(database, short, await signing_in.hash_password(password))


async def _give(database: Database, short: str, password_hash: str) -> int:
    user_id = await user_id_of(database, short)
    async with database.shared_transaction() as db:
        await signing_in.set_password(db, user_id, password_hash)
    return user_id


async def give_second_factor(parts: Parts, short: str) -> str:
    """The secret; no code of it was used yet."""
    user = await user_of(parts.database, short)
    secret = pyotp.random_base32()
    sealed = parts.keys.seal(Secret(secret), second_factor.place(user.workspace, user.id))
    await change_user(parts.database, short, totp_secret=sealed)
    return secret


def code_of(secret: str, *, steps: int = 0) -> str:
    """The code of this half minute, or of one some steps away."""
    return pyotp.TOTP(secret).at(int(datetime.now(UTC).timestamp()) + 30 * steps)


def wrong_code(secret: str) -> str:
    """A code that fits none of the half minutes that count."""
    near = {code_of(secret, steps=step) for step in range(-3, 4)}
    return next(
        code
        for code in ("000000", "111111", "222222", "333333", "444444", "555555", "666666", "777777")
        if code not in near
    )


async def change_user(database: Database, short: str, **values: Any) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(User).where(User.email == f"{short}@example.org").values(**values))


async def fill_in(browser: Browser, url: str, data: dict[str, Any] | None = None) -> httpx.Response:
    """Loads the form at `url` and posts it, as somebody who is not signed in does."""
    shown = await browser.get(url)
    found = _TOKEN.search(shown.text)
    assert found, shown.text
    return await browser.post(url, data={**(data or {}), "csrf_token": found[1]})


async def submit_sign_in(browser: Browser, short: str, password: str = PASSWORD, **more: str) -> httpx.Response:
    return await fill_in(browser, "/sign-in", {"email": f"{short}@example.org", "password": password, **more})


async def everything_audited(database: Database) -> str:
    """All that the audit holds, as text to look for secrets in."""
    async with database.shared_transaction() as db:
        rows = await db.execute(select(AuditEntry.act, AuditEntry.subject_id, AuditEntry.before, AuditEntry.after))
        return "\n".join(str(tuple(row)) for row in rows)


async def acts(database: Database, workspace: str = "main") -> list[str]:
    """What was done in a workspace, oldest first."""
    async with database.shared_transaction() as db:
        statement = select(AuditEntry.act).where(AuditEntry.workspace == workspace).order_by(AuditEntry.id)
        return list(await db.scalars(statement))
