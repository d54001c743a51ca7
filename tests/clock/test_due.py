"""What events of the host mark for the next import; whether it then judges rightly is test_importing's."""

from typing import Any

import pytest

from app.clock import due, import_rows
from app.clock.taps import Unbound
from app.db.session import Database
from app.host.events import RecordsChanged
from tests.clock.mirrored import connect

MANY = range(1, 33_001)  # a statement takes 32,767 parameters


@pytest.mark.parametrize("change", ["created", "edited", "decided", "deleted"])
async def test_an_act_may_be_on_any_number_of_records(database: Database, change: Any) -> None:
    async with database.transaction() as db:
        await connect(db)
        await due.on_host_event(db, RecordsChanged(tuple(MANY), change))


async def test_any_number_of_codes_may_be_due(database: Database) -> None:
    codes = [str(number) for number in MANY]
    async with database.transaction() as db:
        assert await import_rows.owners(db, codes) == dict.fromkeys(codes, Unbound())
        assert await import_rows.codes_of(db, MANY) == {}
