"""The pages around a survey's results: comments with search and filter, versions side by side,
what counts as a number."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job, User
from app.db.session import Database
from app.host.models import Employee
from app.jobs import Claim
from app.parts import Parts
from app.surveys import erasing
from app.surveys import jobs as survey_jobs
from app.surveys.authoring import actions as authoring
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger.chain import MatrixCell
from app.surveys.models import WHOLE, KeptSplit, Survey
from app.surveys.pages.results import versions
from app.surveys.results import comments, splits, tally_marks
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.of_versions import ChoicesByVersion
from tests.benchmarks.explained import watch
from tests.conftest import Browser, SignIn
from tests.host.staff import hire
from tests.surveys.anonymous.team import crew
from tests.surveys.changing import agree, change
from tests.surveys.drafted import CONSENT, Stored, defined, published
from tests.surveys.recording import AT, lunch, record, user_id

WRITTEN = re.compile(r"<p>(.*?)</p>")
CAST = ("nora", "bob", "vera", "alice")
MEASURED = [
    {"label": "How far?", "type": "number"},
    {"label": "Since when?", "type": "date"},
    {"label": "How is it?", "type": "matrix", "options": ["Good", "Bad"], "rows": ["Soup"]},
]


@pytest.fixture
async def meal(parts: Parts) -> Stored:
    """Lunch, about which four wrote, the last one first."""
    survey = await lunch(parts.database)
    for n, short in enumerate(CAST):
        who = await user_id(parts.database, short)
        values = (n + 1, "much" if n % 2 else "little", "soup", ("rice",), f"Text of {short}, STRASSE")
        await record(parts.database, parts.keys, survey, who, *values, recorded_at=AT + timedelta(minutes=n))
    return survey


async def written(browser: Browser, survey: Stored, query: str = "") -> list[str]:
    answer = await browser.get(f"/surveys/view/{survey.uid}/comments?{query}")
    assert answer.status_code == 200, answer.text
    texts = WRITTEN.findall(answer.text.partition('class="comments"')[2])
    return [text.split()[2].rstrip(",") for text in texts if text.startswith("Text of")]


async def test_comments_come_newest_first_and_lead_to_their_responses(meal: Stored, vera: Browser) -> None:
    assert await written(vera, meal) == ["alice", "vera", "bob", "nora"]
    page = (await vera.get(f"/surveys/view/{meal.uid}/comments")).text
    assert len(set(re.findall(r"/surveys/response_modal/[0-9a-f]{64}", page))) == 4
    assert f"/surveys/view/{meal.uid}/comments?version=1" in (await vera.get(f"/surveys/view/{meal.uid}")).text


async def test_they_are_searched_and_narrowed_by_another_answer(meal: Stored, vera: Browser) -> None:
    stars, much, *_, why = [one.key for one in meal.questions]
    assert await written(vera, meal, "q=BOB") == ["bob"]
    assert await written(vera, meal, "q=stra%C3%9Fe") == ["alice", "vera", "bob", "nora"]
    assert await written(vera, meal, "q=nothing") == []
    assert await written(vera, meal, f"by={much}/little") == ["vera", "nora"]
    assert await written(vera, meal, f"by={stars}/2&q=text") == ["bob"]
    assert await written(vera, meal, f"question={why}") == ["alice", "vera", "bob", "nora"]


@pytest.mark.parametrize(
    "query",
    ["by=x", "question=x", "before=x", "q=%00", "q=" + "a" * 201, "question=00000000-0000-4000-8000-000000000000"],
)
async def test_what_cannot_be_read_finds_nothing_and_says_so(meal: Stored, vera: Browser, query: str) -> None:
    assert await written(vera, meal, query) == []
    assert "Nothing was searched" in (await vera.get(f"/surveys/view/{meal.uid}/comments?{query}")).text


async def test_they_are_paged_and_a_long_search_says_where_it_stopped(
    meal: Stored, vera: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comments, "PER_PAGE", 2)
    assert await written(vera, meal) == ["alice", "vera"]
    page = (await vera.get(f"/surveys/view/{meal.uid}/comments")).text
    older = re.search(r'href="([^"]+)">Older', page)
    assert older is not None
    assert await written(vera, meal, older[1].partition("?")[2].replace("&amp;", "&")) == ["bob", "nora"]
    monkeypatch.setattr(comments, "STEP", 1)
    monkeypatch.setattr(comments, "MOST_READ", 2)
    cut = (await vera.get(f"/surveys/view/{meal.uid}/comments?q=nora")).text
    assert "The newest 2 texts from here on were searched." in cut
    assert ">Older" in cut


@pytest.mark.parametrize("per_page", [4, 5])
async def test_a_page_that_holds_all_comments_offers_no_older_ones(
    meal: Stored, vera: Browser, monkeypatch: pytest.MonkeyPatch, per_page: int
) -> None:
    monkeypatch.setattr(comments, "PER_PAGE", per_page)
    assert await written(vera, meal) == ["alice", "vera", "bob", "nora"]
    assert ">Older" not in (await vera.get(f"/surveys/view/{meal.uid}/comments")).text


@pytest.mark.parametrize("query", ["before=1", "before=1&q=nora"])
async def test_before_the_first_comment_the_page_says_that_there_are_no_older_ones(
    meal: Stored, vera: Browser, query: str
) -> None:
    page = (await vera.get(f"/surveys/view/{meal.uid}/comments?{query}")).text
    assert "There are no older comments." in page
    assert "There is no comment yet" not in page
    assert ">Newest" in page


async def test_what_erased_people_wrote_is_gone_here_too(meal: Stored, parts: Parts, vera: Browser) -> None:
    nora = await user_id(parts.database, "nora")
    await erasing.erase(parts.database, COMMAND_LINE, EvidenceOwner(nora, "nora@example.org", "main"))
    assert await written(vera, meal) == ["alice", "vera", "bob"]


@pytest.mark.parametrize("counted_up", [False, True])
async def test_versions_stand_side_by_side_by_question(
    meal: Stored, parts: Parts, vera: Browser, counted_up: bool
) -> None:
    stars, much = meal.questions[0], meal.questions[1]
    kept = [
        {"key": much.key, "label": "How much was it?", "type": "scale", "options": ["little", "much"]},
        {"key": stars.key, "label": "Stars now?", "type": "star_rating"},
        {"label": "Recommend?", "type": "nps"},
    ]
    async with parts.database.transaction() as db:
        changed = defined(title="Lunch", questions=kept)
        await authoring.save(db, COMMAND_LINE, meal.uid, changed, revision=None, new_version=True, ceiling="full")
        newer = await authoring.load(db, meal.uid)
    await record(parts.database, parts.keys, newer, await user_id(parts.database, "nora"), "much", 5, 9)
    if counted_up:
        async with parts.database.transaction() as db:
            await tally_marks.count_up(db)
    page = " ".join(re.sub(r"<[^>]+>", " ", (await vera.get(f"/surveys/view/{meal.uid}/versions")).text).split())
    assert "Stars now? Answer Version 1 Version 2 5 0.0 % 100.0 % 4 25.0 % 0.0 %" in page
    assert "Mean 2.50 5.00 Median 2.5 5 n 4 1" in page
    assert "How much was it? Answer Version 1 Version 2 little 50.0 % 0.0 % much 50.0 % 100.0 % n 4 1" in page
    assert "NPS – 100.0" in page
    assert "Compare versions" in (await vera.get(f"/surveys/view/{meal.uid}")).text


async def test_rows_of_a_matrix_and_dates_are_compared_too(parts: Parts, vera: Browser) -> None:
    async with parts.database.transaction() as db:
        survey = await published(db, title="Ways", questions=MEASURED)
    cells = (MatrixCell("Soup", "Bad"),)
    await record(parts.database, parts.keys, survey, await user_id(parts.database, "nora"), 1, "2026-11-24", cells)
    kept = [{**asked, "key": one.key} for asked, one in zip(MEASURED, survey.questions, strict=True)]
    async with parts.database.transaction() as db:
        changed = defined(title="Ways again", questions=kept)
        await authoring.save(db, COMMAND_LINE, survey.uid, changed, revision=None, new_version=True, ceiling="full")
        newer = await authoring.load(db, survey.uid)
    for short, day in {"bob": "2026-11-23", "vera": "2026-11-24"}.items():
        given = (2, day, (MatrixCell("Soup", "Good"),))
        await record(parts.database, parts.keys, newer, await user_id(parts.database, short), *given)
    page = " ".join(re.sub(r"<[^>]+>", " ", (await vera.get(f"/surveys/view/{survey.uid}/versions")).text).split())
    assert "Since when? Answer Version 1 Version 2 2026-11-23 – 50.0 % 2026-11-24 100.0 % 50.0 % n 1 2" in page
    assert "How is it? Answer Version 1 Version 2 Soup: Good 0.0 % 100.0 % Soup: Bad 100.0 % 0.0 % n 1 2" in page


def test_dates_of_all_versions_are_told_by_the_same_part_of_them() -> None:
    asked = AskedQuestion(WHOLE, "When?", "date")
    days = {f"2026-{month:02}-01": 1 for month in range(1, 13)}
    given = {(1, WHOLE): {"": 12, **days}, (2, WHOLE): {"": 2, "2026-02-03": 2}}
    (found,) = versions._compared([asked], [1, 2, 3], ChoicesByVersion(given, {}))
    assert found.labels[1] == ("2026-02", ["8.3 %", "100.0 %", "–"])
    assert found.labels[0] == ("2026-01", ["8.3 %", "–", "–"])


async def test_every_type_of_question_shows_what_it_came_to(parts: Parts, vera: Browser) -> None:
    asked = [
        {"label": "Recommend?", "type": "nps"},
        {"label": "How many?", "type": "number"},
        {"label": "When?", "type": "date"},
        {"label": "Of five?", "type": "scale", "options": ["1", "2", "3"]},
    ]
    async with parts.database.transaction() as db:
        survey = await published(db, title="All", questions=asked)
    for short, values in {"nora": (10, 2.5, "2026-11-25", "3"), "bob": (6, 4, "2026-11-26", "2")}.items():
        await record(parts.database, parts.keys, survey, await user_id(parts.database, short), *values)
    page = " ".join(re.sub(r"<[^>]+>", " ", (await vera.get(f"/surveys/view/{survey.uid}")).text).split())
    assert "NPS 0.0 1 promoters, 0 passives, 1 detractors" in page
    assert "3.25 mean of 2, median 3.25, from 2.5 to 4" in page
    assert "2.50 mean of 2, median 2.5" in page
    assert "2026-11-25 1 50.0 %" in page


async def test_other_workspaces_strangers_and_people_without_the_right_see_neither_page(
    meal: Stored, eve: Browser, visitor: Browser, sign_in: SignIn, vera: Browser
) -> None:
    nora = await sign_in("nora")
    for part in ("comments", "versions"):
        url = f"/surveys/view/{meal.uid}/{part}"
        assert (await eve.get(url)).status_code == 404
        assert (await visitor.get(url)).headers["location"].startswith("/sign-in")
        assert (await nora.get(url)).status_code == 403
    block = await vera.get(f"/surveys/view/{meal.uid}/comments", headers={"HX-Request": "true"})
    assert block.text.lstrip().startswith('<div class="stack" id="survey-comments">')


class TestSplits:
    """The answers by groups of people, live and counted in the background."""

    @pytest.fixture
    async def kitchen(self, meal: Stored, database: Database) -> Stored:
        """Nora and Bob work in the kitchen; Vera and Alice have no department."""
        async with database.transaction() as db:
            for short in ("nora", "bob"):
                who = await db.scalar(select(User.id).where(User.email == f"{short}@example.org"))
                employee = await hire(db, short, short, department="Kitchen")
                await db.execute(update(Employee).where(Employee.id == employee).values(user_id=who))
        return meal

    @staticmethod
    async def shown(browser: Browser, survey: Stored, by: str, query: str = "") -> str:
        answer = await browser.get(f"/surveys/view/{survey.uid}?split={by}&{query}")
        assert answer.status_code == 200, answer.text
        page = re.sub(r"<[^>]+>", " ", answer.text.partition('id="h-split"')[2].partition('id="h-ledger"')[0])
        return " ".join(page.split())

    DEPARTMENTS = (
        "Responses n Kitchen 2 Not known 2",
        "Stars? Mean Median n Kitchen 1.50 1.5 2 Not known 3.50 3.5 2",
        "How much? little much n Kitchen 50.0 % 50.0 % 2",
        "What all? rice bread beans n Kitchen 100.0 % 0.0 % 0.0 % 2",
    )

    async def test_departments_types_and_tenants(self, kitchen: Stored, vera: Browser) -> None:
        by_department = await self.shown(vera, kitchen, "department")
        for words in self.DEPARTMENTS:
            assert words in by_department
        assert "Employee 1" in await self.shown(vera, kitchen, "type")
        assert "Responses n main 4" in await self.shown(vera, kitchen, "tenant")
        assert await self.shown(vera, kitchen, "shoe") == ""

    async def test_days_narrow_a_live_count(self, kitchen: Stored, vera: Browser) -> None:
        assert "Responses n Kitchen" not in await self.shown(vera, kitchen, "department", "from=2030-01-01")

    async def test_an_erased_person_is_in_no_group(self, kitchen: Stored, parts: Parts, vera: Browser) -> None:
        nora = await user_id(parts.database, "nora")
        await erasing.erase(parts.database, COMMAND_LINE, EvidenceOwner(nora, "nora@example.org", "main"))
        assert "Responses n Kitchen 1 Not known 3" in await self.shown(vera, kitchen, "department")

    async def test_above_the_limit_a_job_counts_and_the_page_says_when(
        self, kitchen: Stored, parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(splits, "MOST_LIVE", 3)
        assert "the groups are being counted" in await self.shown(vera, kitchen, "department")
        async with parts.database.shared_transaction() as db:
            (asked,) = (await db.scalars(select(Job.arguments).where(Job.name == "surveys_split"))).all()
        assert asked == {"survey_id": kitchen.id, "version": 1, "split": "department"}
        await survey_jobs.count_split(parts, Claim(1, 1, "main", "surveys_split", asked))
        page = await self.shown(vera, kitchen, "department")
        for words in (
            *self.DEPARTMENTS,
            "Of the whole version, up to now. People counted before are in their groups of",
        ):
            assert words in page

    async def test_what_came_after_a_kept_count_is_added_to_it(
        self, kitchen: Stored, parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(splits, "MOST_LIVE", 3)
        await self.keep(parts, kitchen, "department")
        await record(parts.database, parts.keys, kitchen, 4711)
        monkeypatch.setattr(splits, "MOST_LIVE", 9)
        live = await self.shown(vera, kitchen, "department")
        monkeypatch.setattr(splits, "MOST_LIVE", 3)
        with watch(parts.database.engine) as found:
            added = await self.shown(vera, kitchen, "department")
        assert "Responses n Kitchen 2 Not known 3" in live
        assert live.partition("Responses n")[2] == added.partition("Responses n")[2]
        (read,) = [one.statement for one in found.reads if "WITH people" in one.statement]
        # Only the answers of that stretch, and the departments of those people.
        assert "survey_responses.number >" in read
        assert "survey_answers.number >" in read
        assert "DISTINCT ON" not in read
        monkeypatch.setattr(splits, "LONGEST_REST", 0)
        assert "Of the whole version, counted" in await self.shown(vera, kitchen, "department")

    @pytest.mark.parametrize("narrowed", ["outcome=snoozed", "to=2020-01-01"])
    async def test_a_filter_narrows_neither_a_kept_count_nor_what_is_added_to_it(
        self, kitchen: Stored, parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch, narrowed: str
    ) -> None:
        monkeypatch.setattr(splits, "MOST_LIVE", 0)
        await self.keep(parts, kitchen, "department")
        await record(parts.database, parts.keys, kitchen, 4711)
        whole = await self.shown(vera, kitchen, "department")
        assert "Responses n Kitchen 2 Not known 3" in whole
        assert await self.shown(vera, kitchen, "department", narrowed) == whole

    async def test_an_agreement_that_changed_since_waits_for_the_next_count(
        self, parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with parts.database.transaction() as db:
            consent = await published(db, title="Badges", type="consent", questions=[CONSENT])
        for short in CAST:
            agreed = await agree(parts.database, parts.keys, consent, await user_id(parts.database, short))
        monkeypatch.setattr(splits, "MOST_LIVE", 3)
        await self.keep(parts, consent, "type")
        assert "up to now" in await self.shown(vera, consent, "type")
        await change(parts.database, parts.keys, agreed)
        assert "up to now" not in await self.shown(vera, consent, "type")
        await self.keep(parts, consent, "type")
        assert "up to now" in await self.shown(vera, consent, "type")

    async def test_a_kept_count_has_means_and_medians_in_place_of_each_number_day_and_cell(
        self, parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with parts.database.transaction() as db:
            survey = await published(db, title="Ways", questions=MEASURED)
        for n, short in enumerate(CAST):
            cells = (MatrixCell("Soup", "Bad"),)
            values = (1000.25 + n * n, f"2026-11-{20 + n}", cells)
            await record(parts.database, parts.keys, survey, await user_id(parts.database, short), *values)
        live = await self.shown(vera, survey, "tenant")
        assert "How far? Mean Median n main 1003.75 1002.75 4" in live
        monkeypatch.setattr(splits, "MOST_LIVE", 3)
        monkeypatch.setattr(splits, "MOST_VALUES", 3)
        await self.keep(parts, survey, "tenant")
        assert live.partition("Responses n")[2] in await self.shown(vera, survey, "tenant")
        async with parts.database.transaction() as db:
            kept = await db.scalar(select(KeptSplit.figures))
        assert kept is not None
        assert [one[2:] for one in kept["middles"]] == [[4, "1003.75", "1002.75", "1000.25", "1009.25"]]
        assert {choice for _, _, choice, _ in kept["people"]} == {"answered", ""}

    @pytest.mark.parametrize("most", [500, 3])
    async def test_numbers_of_small_departments_stand_together_in_a_kept_count_as_in_a_live_one(
        self, parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch, most: int
    ) -> None:
        async with parts.database.transaction() as db:
            survey = await published(db, title="Ways", questions=MEASURED[:1])
        departments = [*(f"Department {n:02}" for n in range(14)), None]
        for n, who in enumerate(await crew(parts.database, departments)):
            await record(parts.database, parts.keys, survey, who, n * n)
        live = (await self.shown(vera, survey, "department")).partition("Responses n")[2]
        assert "Department 11 121.00 121 1 Others 156.50 156.5 2 Not known 196.00 196 1" in live
        monkeypatch.setattr(splits, "MOST_LIVE", 3)
        monkeypatch.setattr(splits, "MOST_VALUES", most)
        await self.keep(parts, survey, "department")
        assert live in await self.shown(vera, survey, "department")

    async def test_a_count_that_was_kept_with_each_number_is_counted_again(
        self, kitchen: Stored, parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(splits, "MOST_LIVE", 3)
        await self.keep(parts, kitchen, "department")
        async with parts.database.transaction() as db:
            await db.execute(update(KeptSplit).values(figures=[[None, str(splits.WHOLE), "answered", 4]]))
        assert "the groups are being counted" in await self.shown(vera, kitchen, "department")

    async def test_nothing_is_counted_for_a_survey_that_was_deleted_meanwhile(
        self, kitchen: Stored, parts: Parts
    ) -> None:
        async with parts.database.transaction() as db:
            await db.execute(update(Survey).values(deleted_at=AT))
        await self.keep(parts, kitchen, "department")
        async with parts.database.transaction() as db:
            assert await db.scalar(select(KeptSplit.figures)) is None

    @staticmethod
    async def keep(parts: Parts, survey: Stored, split: str) -> None:
        about = {"survey_id": survey.id, "version": 1, "split": split}
        await survey_jobs.count_split(parts, Claim(1, 1, "main", "surveys_split", about))

    def test_who_comes_to_a_small_group_joins_the_others(self) -> None:
        kept = [("Kitchen", "q", "a", 9), (splits.OTHERS, "q", "a", 3), (None, "q", "a", 1)]
        since = [("Kitchen", "q", "a", 1), ("Bakery", "q", "a", 1), (None, "q", "a", 1)]
        assert splits._added(kept, since)[3:] == [since[0], (splits.OTHERS, "q", "a", 1), since[2]]
        assert splits._added(kept[:1], since)[1:] == since

    def test_small_groups_stand_together_when_there_are_many(self) -> None:
        figures = [(f"Group {n:02}", str(splits.WHOLE), "answered", 100 - n) for n in range(20)]
        found = splits._split(figures)
        assert [name for name, _ in found.groups] == [*(f"Group {n:02}" for n in range(12)), "Others"]
        assert dict(found.groups)["Others"] == sum(100 - n for n in range(12, 20))
