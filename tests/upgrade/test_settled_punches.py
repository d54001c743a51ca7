"""The step that brings settled punches: which punches it has judged again.
What the dumps hold of it: test_upgrade.py."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from sqlalchemy import insert, select, text, update

from app.clock.models import Punch
from app.db.session import Database
from app.host.models import AttendanceRecord
from tests.clock.mirror_store import when
from tests.clock.resolved import ada_works, import_all

STEP = Path(__file__).parents[2] / "migrations" / "versions" / "clock" / "2026_11_23_settled_punches.py"


def inside() -> str:
    spec = spec_from_file_location("step", STEP)
    assert spec is not None
    assert spec.loader is not None
    step = module_from_spec(spec)
    spec.loader.exec_module(step)
    return str(step.INSIDE)


async def test_punches_inside_a_record_made_by_hand_are_judged_again_and_no_others(database: Database) -> None:
    ada = await ada_works(database, "I Mon 07:00, I Tue 15:00, I Wed 10:00, I Thu 09:00, I Fri 08:00, O Fri 17:00")
    common = {"employee_id": ada, "kind": "regular", "breaks": [], "status": "pending"}
    records = [
        ("Mon 07:00", "Mon 15:00", "manual", None),
        ("Tue 07:00", "Tue 15:00", "manual", None),
        ("Wed 09:00", "Wed 15:00", "clock", None),
        ("Thu 08:00", "Thu 15:00", "manual", when("Fri 07:00")),
    ]
    async with database.transaction() as db:
        await db.execute(update(Punch).values(judge_at=None))
        for start, end, source, deleted in records:
            hours = {"clock_in": when(start), "clock_out": when(end), "workday": when(start).date()}
            await db.execute(insert(AttendanceRecord).values(**common, **hours, source=source, deleted_at=deleted))
        await db.execute(text(inside()))
        due = select(Punch.punched_at_local).where(Punch.judge_at.is_not(None)).order_by(Punch.punched_at_utc)
        assert [f"{at:%a %H:%M}" for at in await db.scalars(due)] == ["Mon 07:00", "Tue 15:00"]
    await import_all(database)
    async with database.transaction() as db:
        covered = select(Punch.punched_at_local).where(Punch.covered_by_id.is_not(None)).order_by(Punch.punched_at_utc)
        assert [f"{at:%a %H:%M}" for at in await db.scalars(covered)] == ["Mon 07:00", "Tue 15:00"]
