"""What events of the host mark for the next import; importing/test_judged_again.py says whether it
then judges rightly."""

from typing import Any

import pytest
from sqlalchemy import select, update

from app.clock.importing.owners import codes_of_people, read_owners
from app.clock.models import Punch
from app.clock.pairing.inputs import Unbound
from app.clock.punches import marks
from app.db.session import Database
from app.host.events import RecordsChanged
from tests.clock.mirrored import connect, punch

MANY = range(1, 33_001)  # a statement takes 32,767 parameters


@pytest.mark.parametrize("change", ["created", "edited", "decided", "deleted"])
async def test_an_act_may_be_on_any_number_of_records(database: Database, change: Any) -> None:
    async with database.transaction() as db:
        await connect(db)
        await punch(db, "of the last record", "I 08:00")
        await punch(db, "of none of them", "I 08:00")
        behind = update(Punch).where(Punch.emp_code == "of the last record")
        await db.execute(update(Punch).values(judge_at=None))
        await db.execute(behind.values(host_attendance_id=MANY[-1]))
        await marks.on_host_event(db, RecordsChanged(tuple(MANY), change))
        assert list(await db.scalars(select(Punch.emp_code).where(Punch.judge_at.is_not(None)))) == [
            "of the last record"
        ]


async def test_any_number_of_codes_may_be_due(database: Database) -> None:
    codes = [str(number) for number in MANY]
    async with database.transaction() as db:
        assert await read_owners(db, codes) == dict.fromkeys(codes, Unbound())
        assert await codes_of_people(db, MANY) == {}
