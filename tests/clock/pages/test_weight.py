"""What the two longest lists weigh on the wire with fifty rows, as a browser takes them."""

from functools import partial
from random import Random

import pytest

from app.clock.importing.import_due import import_due
from app.clock.models import Department
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, punch

FIRST = (
    "Ada",
    "Björk",
    "Chloé",
    "Dov",
    "Elif",
    "Fiadh",
    "Gia",
    "Hana",
    "Ivo",
    "Jiří",
    "Łucja",
    "Miro",
    "Νίκος",
    "Øyvind",
)
LAST = ("Castanheira-Bela", "Larkspur", "O’Clockmore", "Umberfield", "Rumblethorpe", "Silverspoon", "Wolkenschieber")
STATES = ("unbound", "conflict", "suggested", "not_found", "disabled", "bound")


@pytest.fixture
async def fifty(database):
    """Fifty people with names, departments, states and enrolments that differ, and a punch of each."""
    chance = Random(7)
    async with database.transaction() as db:
        await connect(db, "Europe/Berlin")
        db.add_all(Department(code=f"D{n}", name=f"Assembly line {n}") for n in range(6))
        for n in range(4):
            await mirror_terminal(db, f"SIM{n}", alias=f"Hall {n} coded")
        for n in range(50):
            name, state = f"{chance.choice(FIRST)} {chance.choice(LAST)}", chance.choice(STATES)
            owner = await employ(db, name) if state == "bound" else None
            has = {f"has_{way}": chance.random() < 0.5 for way in ("face", "fingerprint", "card", "password")}
            more = {"full_name": name, "department_code": f"D{chance.randrange(6)}", "seen": 1, **has}
            await mirror_person(db, str(10_000 + n), owner, **more, **({} if owner else {"state": state}))
            time = f"{chance.randrange(6, 20):02}:{chance.randrange(60):02}"
            await punch(db, str(10_000 + n), f"{chance.choice('IO')} {time}", sn=f"SIM{chance.randrange(4)}")
    await import_due(partial(database.transaction, "main"), now=FAR)


@pytest.mark.usefixtures("fifty")
@pytest.mark.parametrize("address", ["/clock_transactions", "/clock_employees"])
async def test_fifty_rows_weigh_little_more_than_ten_kilobytes(alice, address):
    plain = await alice.get(address)
    assert plain.text.count("<tr") == 51
    for encoding in ("br", "gzip"):
        async with alice.stream("GET", address, headers={"Accept-Encoding": encoding}) as answer:
            size = len(b"".join([piece async for piece in answer.aiter_raw()]))
        assert answer.headers["content-encoding"] == encoding
        # Every page carries what a survey's card needs (its words, and how to keep what is typed):
        # some 250 bytes of it.
        assert size <= 10_700
