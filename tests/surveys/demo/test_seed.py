"""SurveysDemo: what it makes, that making it twice adds nothing, and that removing it leaves what real people did."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import func, insert, literal, select, text

from app.accounts.models import User
from app.host.models import Application, AppRating
from app.surveys.anonymous.models import SealedBallot
from app.surveys.authoring.stored import load
from app.surveys.demo import plan as demo_plan
from app.surveys.demo import seed as demo
from app.surveys.demo.cast import ARRIVAL, WEEK, people
from app.surveys.demo.programme import PLATFORM, TENANT
from app.surveys.demo.rounds import ENPS
from app.surveys.ledger import append as ledger
from app.surveys.ledger import verifying
from app.surveys.ledger.entries import Entry
from app.surveys.models import PromptState, Response, Survey, SurveyRound, Tally
from app.surveys.pages.survey_list import FIGURES
from app.surveys.results import anonymous, promoters, tallies, tally_marks, tally_rows
from tests.cluster import DatabaseUrls
from tests.conftest import command_line

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CAST = ("alice@example.org", "bob@example.org", "vera@example.org")


async def seed(parts, workspace="main", **options):
    async with parts.database.transaction(workspace) as db:
        return await demo.seed(db, parts.keys, NOW, **options)


async def remove(parts, workspace="main"):
    async with parts.database.transaction(workspace) as db:
        return await demo.remove(db)


async def scalar(parts, statement, workspace="main"):
    async with parts.database.transaction(workspace) as db:
        return await db.scalar(statement)


def test_the_same_people_always_do_the_same():
    folk = [(one.email, one.kind) for one in people(50, "main")]
    assert list(demo_plan.asked(WEEK, folk, NOW)) == list(demo_plan.asked(WEEK, folk, NOW))


@pytest.mark.parametrize("survey", [*PLATFORM, *TENANT], ids=lambda one: one.definition.title)
def test_no_answer_is_older_than_its_version_or_in_the_future(survey):
    folk = [(one.email, one.kind) for one in people(240, "main")]
    happened = list(demo_plan.asked(survey, folk, NOW))
    assert {one.version for one in happened} == set(range(1, len(survey.published) + 1))
    for one in happened:
        since = NOW - timedelta(days=survey.published[one.version - 1])
        until = NOW - timedelta(days=survey.answered_until[one.version - 1])
        assert since <= (one.at or since) <= until + timedelta(minutes=10)


async def test_it_makes_a_thousand_answers_to_surveys_of_all_four_types(parts):
    made = await seed(parts)
    assert made.responses > 900
    assert made.ratings > 300
    types = await scalar(parts, select(func.array_agg(Survey.type.distinct())))
    assert set(types) == {"rating", "consent", "poll", "feedback"}
    assert (await verifying.verify(parts.database, parts.keys, "main")).fits
    days = await scalar(parts, text("SELECT max(recorded_at) - min(recorded_at) FROM survey_responses"))
    assert timedelta(days=140) < days < timedelta(days=190), "the first of six monthly rounds was long ago"


async def test_one_survey_waits_for_everybody_who_signs_in(parts, token, visitor):
    await seed(parts, cast=CAST, crowd=20)
    for short in ("alice", "bob", "vera"):
        bearer = {"Authorization": f"Bearer {await token(short, 'me')}"}
        answer = (await visitor.get("/v1/api/me/surveys", headers=bearer)).json()
        assert [one["title"] for one in answer["data"]] == ["Is this portal easy to use?"], short


async def test_seeding_twice_adds_nothing_and_removing_twice_is_fine(parts):
    first = await seed(parts, workspace="acme", crowd=10)
    assert (first.surveys, first.apps) == (2, 0)
    assert await seed(parts, workspace="acme", crowd=10) == demo.Made()
    assert (await remove(parts, "acme")).responses == first.responses
    assert await remove(parts, "acme") == demo.Made()
    assert (await seed(parts, workspace="acme", crowd=10)).surveys == 2


async def _real_people_answer_and_rate(parts, email="alice@example.org"):
    """One survey and one app."""
    async with parts.database.transaction("main") as db:
        week = (await db.execute(select(Survey).where(Survey.title == WEEK.definition.title))).scalar_one()
        alice = await db.scalar(select(User.id).where(User.email == email))
        real = Entry(
            week.id, week.uid, week.version, week.wording_id, week.content_hash, alice, "answered", "web", (), None, None, NOW,
            shown="not_handed_out",
        )  # fmt: skip
        await ledger.append(db, parts.keys, real)
        clocky = await db.scalar(select(Application.id).where(Application.name == "Clocky"))
        await db.execute(
            insert(AppRating).values(
                application_id=clocky, user_id=alice, rating=5, platform="ios", rated_on=NOW.date()
            )
        )


async def test_what_real_people_did_stays(parts):
    await seed(parts, crowd=20)
    await _real_people_answer_and_rate(parts)
    gone = await remove(parts)
    assert gone.surveys == len(PLATFORM) - 1
    async with parts.database.transaction("main") as db:
        left = (await db.execute(select(Survey.title, Survey.status).where(Survey.deleted_at.is_(None)))).all()
        assert [tuple(one) for one in left] == [(WEEK.definition.title, "archived")]
        apps = (
            await db.execute(select(Application.name, Application.status).where(Application.deleted_at.is_(None)))
        ).all()
        assert [tuple(one) for one in apps] == [("Clocky", "retired")]
        assert await db.scalar(select(func.count()).where(AppRating.deleted_at.is_(None))) == 1
        assert await db.scalar(select(func.count()).select_from(Response)) == gone.responses + 1
    assert (await verifying.verify(parts.database, parts.keys, "main")).fits


async def _asked(parts):
    """How many people each version of what is left was put to, by the pages."""
    found = select(Survey.title, FIGURES.c.version, FIGURES.c.asked).join(FIGURES, FIGURES.c.survey_id == Survey.id)
    async with parts.database.transaction() as db:
        rows = await db.execute(found.where(Survey.deleted_at.is_(None)))
        return {(title, version): asked for title, version, asked in rows}


@pytest.mark.parametrize("counted_up", [False, True])
async def test_of_the_demos_people_nothing_is_left_in_figures_and_users(parts, alice, counted_up):
    await seed(parts, cast=CAST, crowd=20)
    await _real_people_answer_and_rate(parts, "nora@example.org")
    if counted_up:
        async with parts.database.transaction() as db:
            await tally_marks.count_up(db)
    gone = await remove(parts)
    assert gone.people == 20
    assert await _asked(parts) == {(WEEK.definition.title, 1): 1}
    users = (await alice.get("/admin/users?per_page=200")).text
    assert "Tickwell" not in users
    assert "Nora Nemo" in users
    assert await remove(parts) == demo.Made()
    assert (await verifying.verify(parts.database, parts.keys, "main")).fits


ADA = "ada.tickwell.main@demo.example.org"
USES = {
    "activated": "UPDATE users SET active = true WHERE email = :ada",
    "signed in once": "UPDATE users SET last_sign_in_at = now() WHERE email = :ada",
    "given a password": "UPDATE users SET password_hash = 'x' WHERE email = :ada",
    "given a role": "INSERT INTO user_roles (user_id, role_id) SELECT u.id, min(r.id) FROM users u, roles r WHERE email = :ada GROUP BY 1",
    "linked to an employee": "INSERT INTO employees (id_number, id_number_key, name, user_id) SELECT '1', '1', name, id FROM users WHERE email = :ada",
}


@pytest.mark.parametrize("use", USES)
async def test_an_invented_account_that_somebody_used_is_kept_and_answers_no_more(parts, use):
    await seed(parts, crowd=3)
    async with parts.database.transaction() as db:
        await db.execute(text(USES[use]), {"ada": ADA})
        assert (await demo.leaving(db)).kept == (ADA,)
    assert (await remove(parts)).people == 2
    before = await scalar(parts, select(func.max(Response.number)))
    assert (await seed(parts, crowd=3)).people == 2
    of_ada = select(func.count()).select_from(Response).join(User, User.id == Response.person)
    assert await scalar(parts, of_ada.where(User.email == ADA, Response.number > before)) == 0
    assert await scalar(parts, of_ada.where(User.email == ADA)) > 0


async def test_impressions_go_with_their_survey_and_stay_where_it_stays(parts):
    await seed(parts, crowd=5)
    await _real_people_answer_and_rate(parts)
    async with parts.database.transaction() as db:
        alice = await db.scalar(select(User.id).where(User.email == "alice@example.org"))
        met = select(Survey.id, Survey.version, literal(alice), literal(1), func.now(), func.now()).where(Survey.demo)
        names = ["survey_id", "version", "user_id", "impressions", "first_shown_at", "last_shown_at"]
        await db.execute(insert(PromptState).from_select(names, met))
    await remove(parts)
    async with parts.database.transaction() as db:
        left = await db.execute(
            select(Survey.title, PromptState.user_id).join(Survey, Survey.id == PromptState.survey_id)
        )
        assert [tuple(one) for one in left] == [(WEEK.definition.title, alice)]


async def test_no_person_is_invented_when_nothing_is_left_to_answer(parts):
    await seed(parts, workspace="acme", crowd=2)
    assert await seed(parts, workspace="acme", crowd=5) == demo.Made()


async def test_removed_rows_count_nowhere(parts, alice):
    await seed(parts, crowd=20)
    await remove(parts)
    for page in ("/surveys/overview", "/surveys/responses", "/surveys/list", "/surveys/ratings"):
        html = (await alice.get(page)).text
        assert "How was your week?" not in html, page
        assert "Tickwell" not in html, page
    assert "No responses" in (await alice.get("/surveys/responses")).text


async def test_the_command_rehearses_makes_and_takes_back_a_tenants_demo(urls: DatabaseUrls, tmp_path: Path) -> None:
    muster = command_line(urls, tmp_path)
    seed = ("db:seed", "SurveysDemo", "--workspace", "globex")
    rehearsed = (await muster(*seed, "--dry-run", "--json")).json
    assert (await muster(*seed, "--dry-run", "--json")).json == rehearsed
    assert (await muster(*seed, "--json")).json["added"]["surveys"] == len(rehearsed["surveys"]) > 0
    assert (await muster(*seed, "--dry-run")).out == "Nothing would be added.\n"
    assert (await muster(*seed)).out == "0 surveys, 0 people, 0 responses, 0 apps and 0 ratings were added.\n"
    removed = (await muster(*seed, "--remove", "--json")).json
    assert removed["removed"]["surveys"] == len(rehearsed["surveys"])
    assert removed["surveys"] == rehearsed["surveys"]
    assert (
        await muster(*seed, "--remove")
    ).out == "0 surveys, 0 people, 0 responses, 0 apps and 0 ratings were removed.\n"


async def test_the_command_names_what_goes_and_what_is_kept_since_people_met_it(
    parts, urls: DatabaseUrls, tmp_path: Path
) -> None:
    muster = command_line(urls, tmp_path)
    await seed(parts, crowd=5)
    await _real_people_answer_and_rate(parts)
    remove_them = ("db:seed", "SurveysDemo", "--remove")
    tried = await muster(*remove_them, "--dry-run")
    assert (tried.code, tried.err) == (0, "")
    assert f"  archived  {WEEK.definition.title} (people answered it)\n" in tried.out
    assert "  retired   Clocky (people rated it)\n" in tried.out
    others = [one.definition.title for one in PLATFORM if one is not WEEK]
    assert [line for line in tried.out.splitlines() if line.startswith("  survey")] == [
        f"  survey    {title}" for title in others
    ]
    assert tried.out == (await muster(*remove_them, "--dry-run")).out
    foretold = (await muster(*remove_them, "--dry-run", "--json")).json
    assert (foretold["surveys"], foretold["archived"], foretold["retired"]) == (
        others,
        [WEEK.definition.title],
        ["Clocky"],
    )
    done = await muster(*remove_them)
    assert done.out == tried.out.replace("would be removed", "were removed")
    async with parts.database.transaction() as db:
        left = (await db.execute(select(Survey.title, Survey.status).where(Survey.deleted_at.is_(None)))).all()
        apps = (
            await db.execute(select(Application.name).where(Application.demo, Application.deleted_at.is_(None)))
        ).all()
    assert ([tuple(one) for one in left], [tuple(one) for one in apps]) == (
        [(WEEK.definition.title, "archived")],
        [("Clocky",)],
    )
    again = (await muster(*remove_them, "--json")).json
    assert [again[kind] for kind in ("surveys", "archived", "apps", "retired")] == [[], [], [], []]
    assert (await muster(*remove_them)).out == "0 surveys, 0 people, 0 responses, 0 apps and 0 ratings were removed.\n"


async def test_the_demo_answers_scores_numbers_and_matrices_and_no_hidden_question(parts):
    await seed(parts, crowd=60)
    keys = [one.key for one in (await _stored(parts, ARRIVAL.definition.title)).questions]
    score, missing, friends, matrix, number = keys
    counted = text(
        "SELECT a.question_key, array_agg(DISTINCT a.choice) FROM survey_answers a WHERE a.question_key = ANY(:keys) GROUP BY 1"
    )
    async with parts.database.transaction("main") as db:
        found = dict((await db.execute(counted, {"keys": keys})).all())
        wrong = text(
            "SELECT count(*) FROM survey_answers a JOIN survey_answers s ON s.number = a.number AND s.question_key = :score"
            " WHERE a.question_key = :missing AND s.choice::int > 6"
        )
        assert await db.scalar(wrong, {"score": score, "missing": missing}) == 0
    assert len(found[score]) > 4
    assert {missing, friends, number} <= found.keys()
    assert {one.partition("\t")[0] for one in found[matrix]} == {"My place of work", "My tools", "My introduction"}
    assert (await verifying.verify(parts.database, parts.keys, "main")).fits


async def _stored(parts, title):
    async with parts.database.transaction("main") as db:
        return await load(db, await db.scalar(select(Survey.uid).where(Survey.title == title)))


async def test_a_survey_has_six_monthly_rounds_that_came_to_different_scores(parts):
    await seed(parts, crowd=120)
    async with parts.database.transaction("main") as db:
        survey = (await db.scalars(select(Survey).where(Survey.title == ENPS.definition.title))).one()
        days = list(await db.scalars(select(SurveyRound.day).order_by(SurveyRound.id)))
        found = await db.execute(tallies.by_version(survey.id, range(1, 7)))
        choices = {}
        for version, key, choice, number in found:
            choices.setdefault((version, key), {})[choice] = number
        stored = await load(db, survey.uid)
    assert (survey.version, survey.rounds_after, len(days)) == (6, days[-1], 6)
    assert all(28 <= (later - earlier).days <= 31 for earlier, later in pairwise(days))
    assert survey.starts_at < NOW < survey.ends_at, "the last one is open"
    scores = [promoters.promoters(_given(choices[version, stored.questions[0].key])).score for version in range(1, 7)]
    assert len(set(scores)) == len(scores)
    assert min(scores) == scores[2]


def _given(choices):
    return {choice: number for choice, number in choices.items() if choice}


async def test_two_people_took_back_their_agreement_and_the_chain_fits(parts):
    made = await seed(parts, crowd=40)
    kinds = "SELECT string_agg(kind || ' ' || source, ',') FROM survey_changes"
    assert await scalar(parts, text(kinds)) == "withdrawn demo,withdrawn demo"
    assert (await verifying.verify(parts.database, parts.keys, "main")).fits
    assert (await remove(parts)).responses == made.responses
    left = select(func.count()).select_from(PromptState)
    assert await scalar(parts, left) == 0
    people_counted = select(func.coalesce(func.sum(Tally.people), 0)).where(Tally.outcome != tally_rows.ASKED)
    assert await scalar(parts, people_counted) == 0
    assert (await verifying.verify(parts.database, parts.keys, "main")).fits


async def test_the_anonymous_survey_is_closed_with_a_group_among_the_others(parts):
    """Few clients answered: they stand with another group. Nothing is left that a removal could miss."""
    await seed(parts)
    async with parts.database.transaction("main") as db:
        team = (await db.execute(select(Survey).where(Survey.anonymity == "anonymous"))).scalar_one()
        left = await db.scalar(select(func.count()).select_from(SealedBallot))
        found = await anonymous.read(db, team.id, team.version, ())
    assert left == 0
    groups = {(row.grouped, row.joined) for row in found.rows if row.choice}
    assert ("employee", False) in groups
    assert (None, True) in groups
    assert ("client", False) not in groups
    assert (await verifying.verify(parts.database, parts.keys, "main")).fits
