"""Problems of the platform alone: a ledger that is broken or cut off, and a secret key that is missing."""

from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import insert, select, update

from app import wiring
from app.accounts.audit import SYSTEM
from app.accounts.models import ClockSignIn, Job
from app.db.session import PLATFORM
from app.host import jobs as host_jobs
from app.host.problem_kinds import keys
from app.jobs import Claim
from app.parts import Parts
from app.problems.kinds import RemedyAsked
from app.secrets import KeyRing, Place, new_key_text
from app.surveys import jobs
from app.surveys.ledger import verifying
from app.surveys.problem_kinds.ledger import PROBLEMS
from tests.command_line import CommandLine
from tests.conftest import KEYS
from tests.problems.test_looking import Platform, platform, watched
from tests.surveys.drafted import Stored
from tests.surveys.ledger.conftest import owner
from tests.surveys.owner import Owner
from tests.surveys.recording import lunch, record

__all__ = ["owner", "platform", "watched"]
VERIFY = Claim(1, 1, PLATFORM, "surveys_verify", {})


async def answered(platform: Platform, parts: Parts) -> Stored:
    """By three people."""
    survey = await lunch(platform.database)
    for person in range(1, 4):
        await record(platform.database, parts.keys, survey, person)
    return survey


def moved(platform: Platform) -> list[str]:
    """What opened and closed since this was asked last."""
    told = [f"{one.kind} opened" for moves in platform.moves for one in moves.opened]
    told += [f"{one.kind} closed" for moves in platform.moves for one in moves.closed]
    platform.moves.clear()
    return told


async def test_a_broken_row_is_a_problem_until_the_ledger_fits_again(
    watched: Platform, parts: Parts, owner: Owner, muster: CommandLine
) -> None:
    await answered(watched, parts)
    await jobs.verify_ledger(parts, VERIFY)
    assert moved(watched) == []
    with owner.tampering("UPDATE survey_responses SET recorded_at = now() WHERE number = 2"):
        await jobs.verify_ledger(parts, VERIFY)
        assert moved(watched) == ["ledger_broken opened"]
        await watched.look()
        assert moved(watched) == [], "a look closes nothing that only the walk finds"
        assert (await watched.the_only_one()).detail.startswith("Row 2 ")
        assert (await muster("ledger:verify")).code == 1
        assert "The ledger is broken" in (await muster("problems")).out
    assert (await muster("ledger:verify")).code == 0
    assert (await muster("problems")).out == "Nothing waits for a person.\n"
    (kind,) = [one for one in PROBLEMS.kinds if one.name == "ledger_broken"]
    async with watched.database.transaction() as db:
        assert kind.remedy is not None
        await kind.remedy.do(RemedyAsked(parts, db, SYSTEM, ["main"], [{}]))
        assert "surveys_verify" in (await db.scalars(select(Job.name))).all()


async def test_a_tail_that_was_cut_off_is_found_by_the_head_that_was_noted(
    watched: Platform, parts: Parts, owner: Owner
) -> None:
    survey = await answered(watched, parts)
    async with watched.database.transaction() as db:
        await verifying.note_head(db)
    assert await watched.look() == []
    before = "SELECT row_hash FROM survey_responses WHERE number = 2"
    cut = (
        "DELETE FROM survey_answers WHERE number = 3",
        "DELETE FROM survey_responses WHERE number = 3",
        f"UPDATE survey_ledger_head SET number = 2, row_hash = ({before})",
    )
    with owner.tampering(*cut):
        await watched.look()
        assert moved(watched) == ["ledger_shrunk opened"]
        await record(watched.database, parts.keys, survey, 4)
        await watched.look()
        assert moved(watched) == [], "another row in the place of the lost one is not the lost one"
    await watched.look()
    assert moved(watched) == ["ledger_shrunk closed"]


async def test_a_value_that_no_key_opens_is_a_problem_until_the_key_is_back(watched: Platform, parts: Parts) -> None:
    wiring.connect()
    async with watched.database.shared_transaction() as db:
        assert await keys.is_due(db, datetime.now(UTC))
        row = insert(ClockSignIn).values(account=b"1").returning(ClockSignIn.id)
        row_id = await db.scalar(row)
        sealed = parts.keys.seal("token", Place("clock_sign_ins", "tokens", PLATFORM, str(row_id)))
        await db.execute(update(ClockSignIn).values(tokens=sealed))
    other = replace(parts, keys=KeyRing.from_text(new_key_text("other")))
    check = Claim(1, 1, PLATFORM, keys.JOB, {})
    await host_jobs.check_keys(other, check)
    assert moved(watched) == ["key_missing opened"]
    detail = (await watched.the_only_one()).detail
    assert "main: clock_sign_ins.tokens" in detail
    assert sealed not in detail
    await host_jobs.check_keys(replace(parts, keys=KeyRing.from_text(f"{new_key_text('other')},{KEYS}")), check)
    assert moved(watched) == ["key_missing closed"]
