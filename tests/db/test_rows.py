"""Plain rows: what the session would give, as named tuples, from the same transaction."""

from decimal import Decimal

import pytest
from sqlalchemy import literal, select

from app.clock.models import Punch
from app.clock.punches.queries import PUNCHES
from app.db.rows import plain
from app.db.session import Database
from tests.clock.mirrored import mirror_person, punch


class Undone(Exception):
    """Ends a transaction without what it wrote."""


async def test_a_plain_row_holds_what_the_sessions_row_holds(database: Database) -> None:
    async with database.transaction() as db:
        await mirror_person(db, "100")
        await punch(db, "100", "I Mon 08:00, O Mon 17:00")
        await db.execute(Punch.__table__.update().values(temperature=Decimal("36.60")))
        ordered = PUNCHES.order_by(Punch.id)
        usual, rows = (await db.execute(ordered)).all(), await plain(db, ordered)
    assert len(rows) == len(usual) == 2
    assert [row._asdict() for row in rows] == [dict(row._mapping) for row in usual]
    assert rows[0].emp_code == "100"
    assert isinstance(rows[0].temperature, Decimal)


async def test_plain_rows_see_what_the_transaction_wrote_and_end_with_it(database: Database) -> None:
    async def write_and_undo() -> None:
        async with database.transaction() as db:
            await mirror_person(db, "100")
            await punch(db, "100", "I Mon 08:00")
            wrote = await plain(db, select(Punch.id, Punch.emp_code))
            assert [row.emp_code for row in wrote] == ["100"]
            raise Undone

    with pytest.raises(Undone):
        await write_and_undo()
    async with database.transaction() as db:
        assert await plain(db, select(Punch.id)) == []


async def test_rows_of_other_columns_have_names_of_their_own(database: Database) -> None:
    async with database.transaction() as db:
        assert [row.one for row in await plain(db, select(literal(1).label("one")))] == [1]
        (row,) = await plain(db, select(literal(1).label("two"), literal("x").label("text")))
        assert (row.two, row.text) == (1, "x")
