"""Person numbers: the ledger names people by them, and `survey_people` says which account has which number.

A number never changes, because chain and sealed evidence depend on it. It is the account's id; a trigger notes it with
the first key or answer. In a tenant that came from another installation, accounts have other ids than there, and keep
their numbers. If such a number equals a newer account's id, `give` finds another number for the newer account.
"""

from typing import Any

import asyncpg
from sqlalchemy import BigInteger, ColumnElement, ScalarSelect, bindparam, case, exists, func, select

from app.db.direct import Direct
from app.db.session import schema_of
from app.surveys.models import LedgerPerson

# The next number below zero: no account has it as its id.
_GIVE = Direct("""
WITH given AS (
    INSERT INTO workspace.survey_people (number, user_id)
    SELECT least(min(number), 0) - 1, CAST(:user AS bigint) FROM workspace.survey_people
    ON CONFLICT DO NOTHING RETURNING number
)
SELECT number, set_config('synchronous_commit', 'off', true) FROM (
    SELECT number FROM given UNION ALL SELECT number FROM workspace.survey_people WHERE user_id = CAST(:user AS bigint)
) AS found LIMIT 1
""")


_people, _user = LedgerPerson.__table__, bindparam("user", type_=BigInteger)


def number() -> ScalarSelect[Any]:
    """The number of the account `user`, a parameter; null when it has none, and so no row in the ledger."""
    return select(_people.c.number).where(_people.c.user_id == _user).scalar_subquery()


def number_to_be() -> ColumnElement[Any]:
    """The number of the account `user`, or the one that it will get. Null when another person has that one."""
    return func.coalesce(number(), case((~exists().where(_people.c.number == _user), _user)))


async def give(connection: asyncpg.Connection, workspace: str, user_id: int) -> int:
    """Gives a number to an account whose id is another person's number. Storing it does not wait for the disk."""
    while True:
        # When two requests give the same account or number at once, one finds nothing; its next try sees what the other
        # wrote.
        row = await _GIVE.row(connection, {"user": user_id}, schema_of(workspace))
        if row is not None:
            given: int = row["number"]
            return given
