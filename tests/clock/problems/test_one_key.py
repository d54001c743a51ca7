"""A terminal that sends one key for coming and going is named once, with its number and its remedy."""

import html
import re
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job
from app.clock.mirror import devices, one_key
from app.clock.models import Device, Punch
from app.clock.problems import remedies
from app.clock.punches import daily_totals
from app.clock.review import fixes, settling
from app.parts import Parts
from app.problems import looking
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, punch
from tests.clock.problems.desk import Desk
from tests.clock.resolved import id_of, import_all, records_of, why_of
from tests.conftest import Browser
from tests.markup import squeezed

HTMX = {"HX-Request": "true"}
NOW = datetime.now(UTC).replace(microsecond=0)
# Four days that are over.
DAYS = [(NOW - timedelta(days=before)).date() for before in (6, 5, 4, 3)]
# Three people who work on each of them.
PEOPLE = ("100", "200", "300")
PUNCHES = 2 * len(PEOPLE) * len(DAYS)
LABEL = f"Read as undirected: {PUNCHES} punches"


async def one_key_hall(parts: Parts) -> None:
    """Hall North says Check In of all punches."""
    await crew(parts)
    await tap(parts, "I 08:00", "I 17:03:21")


async def crew(parts: Parts) -> None:
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW)
        await mirror_terminal(db, "T1", alias="Hall North", state="online", last_punch_at_utc=NOW)
        for code in PEOPLE:
            await mirror_person(db, code, await employ(db, f"Person {code}"))


async def tap(parts: Parts, *taps: str, sn: str = "T1") -> None:
    """The same for each person on each day; then the worker does what it does."""
    told = [(sign, at) for sign, at in (one.split() for one in taps)]
    async with parts.database.transaction() as db:
        for code in PEOPLE:
            await punch(db, code, ", ".join(f"{sign} {day} {at}" for day in DAYS for sign, at in told), sn=sn)
    await imported(parts)


async def imported(parts: Parts) -> None:
    await import_all(parts.database)
    await daily_totals.roll_up(parts.database, "main")


async def test_it_is_named_with_its_number_and_read_as_undirected_its_punches_count(parts: Parts) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await desk.look()
    found = await desk.the("one_key")
    assert (found.title, found.held_punches) == ("Terminal Hall North sends one key only", PUNCHES)
    assert (
        f"It sends “Check In” for coming and going, so {PUNCHES} of its punches of the last 62 days have no partner."
        in found.detail
    )
    await desk.help("one_key")
    assert await desk.of("one_key") == []
    await imported(parts)
    assert len(await records_of(parts.database)) == len(PEOPLE) * len(DAYS)


async def test_it_stands_for_the_days_of_its_punches_until_somebody_dismisses_it(parts: Parts) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await forget_looks(parts)
    await desk.after(desk.look())
    assert set(await desk.open()) & {"one_key", "only_one_punch"} == {"one_key"}
    await forget_looks(parts)
    await desk.after(desk.dismiss("one_key"))
    assert len(await desk.of("only_one_punch")) == len(PEOPLE) * len(DAYS)


async def test_dismissing_says_that_its_days_come_back(parts: Parts) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await desk.look()
    assert (
        "If you dismiss this, each person’s day with one punch there becomes a problem"
        in (await desk.the("one_key")).detail
    )


async def test_settling_a_few_of_its_punches_does_not_give_its_days_back(parts: Parts) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await desk.look()
    few = select(Punch.id).order_by(Punch.id).limit(PUNCHES - one_key.OPENS.single + 1)
    async with parts.database.transaction() as db:
        await settling.settle(db, COMMAND_LINE, Punch.id.in_(few.scalar_subquery()))
    await imported(parts)
    await desk.look()
    assert set(await desk.open()) & {"one_key", "only_one_punch"} == {"one_key"}
    assert (await desk.the("one_key")).held_punches == one_key.OPENS.single - 1


async def test_settling_a_day_leaves_the_punches_for_which_the_terminal_stands(parts: Parts) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await desk.look()
    async with parts.database.transaction() as db:
        await mirror_terminal(db, "T2", alias="Hall South", state="online", last_punch_at_utc=NOW)
        await punch(db, PEOPLE[0], f"I {DAYS[0]} 12:00", sn="T2")
    await imported(parts)
    await desk.look()
    assert (await desk.the("only_one_punch")).held_punches == 1
    await desk.help("only_one_punch")
    async with parts.database.transaction() as db:
        settled = await db.scalars(select(Punch.terminal_sn).where(Punch.settled_at_utc.is_not(None)))
        assert settled.all() == ["T2"]


async def forget_looks(parts: Parts) -> None:
    """As if a worker had looked."""
    async with parts.database.transaction() as db:
        await db.execute(delete(Job).where(Job.name == looking.JOB))


async def test_a_gate_for_coming_beside_one_for_leaving_is_not_named(parts: Parts) -> None:
    """Each of them sends one code; pairs form through the other one."""
    desk = Desk(parts)
    await crew(parts)
    async with parts.database.transaction() as db:
        await mirror_terminal(db, "T2", alias="Hall South", state="online", last_punch_at_utc=NOW)
    await tap(parts, "I 08:00", "I 13:00")
    await tap(parts, "O 12:00", "O 17:00", sn="T2")
    await desk.look()
    assert await desk.of("one_key") == []
    assert len(await records_of(parts.database)) == PUNCHES


async def test_people_who_punch_once_a_day_would_find_no_partner_either(parts: Parts) -> None:
    desk = Desk(parts)
    await crew(parts)
    for at in ("08:00", "08:00:05"):
        await tap(parts, f"I {at}")
    await desk.look()
    assert await desk.of("one_key") == [], "a repeat tap is no second punch"


async def test_a_terminal_that_somebody_set_meanwhile_is_left_as_it_is(parts: Parts) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await desk.look()
    async with parts.database.transaction() as db:
        await devices.set_direction(db, COMMAND_LINE, "T1", "in")
    await desk.help("one_key")
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Device.direction)) == "in"


async def test_who_says_that_it_is_right_is_not_told_again(parts: Parts) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await desk.look()
    await desk.dismiss("one_key")
    await tap(parts, "I 19:00")
    await desk.look()
    assert await desk.of("one_key") == []


async def test_why_leads_with_the_terminal_and_the_one_punch_stands_back(parts: Parts) -> None:
    await one_key_hall(parts)
    found = await why_of(parts.database, f"{DAYS[0]:%a} 08:00")
    assert [one.label for one in found.fixes] == [LABEL, "Add the clock-out"]
    assert found.cause.startswith(
        f"Terminal Hall North sends “Check In” for coming and going: {PUNCHES} of its punches of the last 62 days have no partner."
    )
    async with parts.database.transaction() as db:
        await fixes.set_terminal(db, COMMAND_LINE, await id_of(parts.database, f"{DAYS[0]:%a} 08:00"), LABEL)
    await imported(parts)
    assert (await why_of(parts.database, f"{DAYS[0]:%a} 08:00")).label == "Imported"


async def test_one_punch_that_somebody_forgot_leads_to_itself(parts: Parts) -> None:
    await crew(parts)
    await tap(parts, "I 08:00")
    found = await why_of(parts.database, f"{DAYS[0]:%a} 08:00")
    assert ([one.label for one in found.fixes], found.cause) == (["Add the clock-out"], "")


def test_one_act_has_one_name() -> None:
    names = {fixes.UNDIRECTED, remedies.UNDIRECT.label, dict(remedies.DIRECT.choices)["undirected"]}
    assert names == {"Read as undirected"}
    assert remedies.DIRECT.label == "Set the direction"


async def test_the_dashboard_names_it_with_the_button_that_mends_it(parts: Parts, bob: Browser, vera: Browser) -> None:
    desk = Desk(parts)
    await one_key_hall(parts)
    await desk.look()
    line = squeezed((await bob.get("/clock")).text).partition("Terminal Hall North sends one key only")[2]
    line = line.partition("</li>")[0]
    assert f"holds {PUNCHES} punches" in line
    url = f"/problems/{(await desk.the('one_key')).id}/remedy"
    assert f'href="{url}?back=/clock" data-dialog' in line.replace("%2F", "/")
    assert ">Read as undirected…</a>" in line
    asked = squeezed((await bob.get(f"{url}?back=/clock")).text)
    assert f"{PUNCHES} of its punches of the last 62 days have no partner" in asked
    answer = await bob.submit(url, {"confirmed": "1", "back": "/clock"})
    assert answer.headers["location"] == "/clock"
    assert "Read as undirected…" not in (await vera.get("/clock")).text


async def test_the_button_of_why_asks_first_and_says_what_follows(parts: Parts, bob: Browser, vera: Browser) -> None:
    await one_key_hall(parts)
    punch_id = await id_of(parts.database, f"{DAYS[0]:%a} 08:00")
    page = squeezed((await bob.get(f"/clock_transactions/{punch_id}")).text)
    links = re.findall(r'<a class="(btn[^"]*)" href="([^"]*)" (data-\w+)>([^<]*)</a>', page)
    (first, url, opens, label), (second, *_, other) = links[-2:]
    assert (first, opens, label) == ("btn btn-primary whole", "data-dialog", LABEL)
    assert (second, other) == ("btn", "Add the clock-out")
    asked = squeezed((await bob.get(html.unescape(url), headers={**HTMX, "HX-Target": "dialog"})).text)
    assert f"{LABEL}?" in asked
    assert f"Its {PUNCHES} punches that belong to no record yet are judged again" in asked
    address = f"/clock_transactions/{punch_id}/terminal"
    there = {**HTMX, "HX-Target": "dialog"}
    assert (await vera.get(address)).status_code == 403
    stale = await bob.submit(address, {"agreed": LABEL.replace(f"{PUNCHES}", "9")}, headers=there)
    assert stale.status_code == 409
    done = await bob.submit(address, {"agreed": LABEL, "back": "/clock_transactions"}, headers=there)
    assert (done.status_code, done.headers["HX-Redirect"]) == (204, "/clock_transactions")
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Device.direction)) == "undirected"
    assert (await bob.get(address)).status_code == 409
