"""Bulk acts of the list of surveys: publish, archive or delete those of a selection whose state allows it. The others
stay as they are, and the question says how many and why. One survey: acts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency
from sqlalchemy import select

from app.accounts.permissions import needed
from app.counting import count
from app.errors import Conflict, Forbidden
from app.long_acts.acts import ItemOutcome
from app.long_acts.over_lists import SliceOutcome
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import audience
from app.surveys.authoring.ceilings import ceiling_of, refuse_above
from app.surveys.authoring.stored import Stored, load_all
from app.surveys.models import Survey
from app.surveys.pages.acts_allowed import Hindrance, hindrance, needed_for
from app.surveys.pages.survey_list import around, spec_of
from app.web.bulk import act_on_many, action_of, chosen_ids, mark_of
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import Query
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length


@dataclass(frozen=True, slots=True)
class SurveyActWords:
    """The words of an act of BULK: the verb in the past, and its object for one and for many."""

    past: str
    what: tuple[str, str] = ("survey", "surveys")


ACTS = {
    "publish": SurveyActWords("published"),
    "archive": SurveyActWords("archived"),
    "delete": SurveyActWords("deleted", ("draft", "drafts")),
}


WHAT_MANY_DO = {
    "publish": "Each asks the people of its audience within its own window. Archiving ends it.",
    "archive": "People are no longer asked. Answers stay as they are, and publishing again undoes it. Anonymous surveys are closed for good:"
    " their answers are opened now, and publishing again asks for a new version.",
    "delete": "Drafts are deleted with their questions. They can't be restored; the audit keeps their text.",
}


def _long(act: str, doing: str) -> LongBulk:
    async def rows(ctx: Context, _: Query, __: str) -> BulkRows:
        await _may(ctx, act)
        return BulkRows(spec_of(await around(ctx)), select(Survey.id).where(Survey.deleted_at.is_(None), *_MAY_DO[act]))

    async def changes(ctx: Context, ids: Sequence[int], _: Mapping[str, Any]) -> SliceOutcome:
        ceiling, now = await ceiling_of(ctx.db), datetime.now(UTC)
        left: dict[int, ItemOutcome] = {}
        for stored in await load_all(ctx.db, ids):
            if why := await _hindrance(ctx, act, stored, ceiling, now):
                left[stored.id] = ItemOutcome("hindered", f"It {why[0]}.")
            else:
                await _do(ctx, act, stored, now, ceiling)
        return SliceOutcome(len(ids) - len(left), left)

    return LongBulk(
        f"surveys.{act}",
        doing,
        ACTS[act].past,
        ACTS[act].what,
        needed_for(act),
        rows,
        changes,
        module="surveys",
        sees="surveys.view",
        left={"hindered": "not in a state for it"},
        names=lambda _: select(Survey.id, Survey.title),
        at_once=50,
        changed_at=Survey.updated_at if act == "publish" else None,
    )


# The least that a survey must be; all else that prevents an act is checked survey by survey.
_MAY_DO = {
    "publish": [Survey.status != "published"],
    "archive": [Survey.status == "published"],
    "delete": [Survey.status == "draft"],
}
LONG = {
    "publish": _long("publish", "Publishing surveys"),
    "archive": _long("archive", "Archiving surveys"),
    "delete": _long("delete", "Deleting drafts"),
}


@post("/surveys/list/bulk", guards=[Requires("surveys.view", module="surveys")], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    act = await action_of(ctx, ACTS)
    ceiling = await _may(ctx, act)
    there = select(Survey.id).where(Survey.deleted_at.is_(None))

    async def ask_of_many(which: str) -> dict[str, Any]:
        consequence = f"{WHAT_MANY_DO[act]} Surveys that can't be {ACTS[act].past} stay as they are."
        return {"verb": act.capitalize(), "what": which, "consequence": consequence, "danger": act != "publish"}

    if answer := await at_length(ctx, LONG[act], "/surveys/list", ask_of_many):
        return answer
    chosen = await load_all(ctx.db, await chosen_ids(ctx, spec_of(await around(ctx)), there))
    now = datetime.now(UTC)
    hindered = {one.uid: why for one in chosen if (why := await _hindrance(ctx, act, one, ceiling, now))}
    able = [one for one in chosen if one.uid not in hindered]

    async def ask() -> dict[str, Any]:
        return await _question(ctx, act, able, _staying(hindered.values(), len(chosen)))

    async def act_on_them() -> str:
        for stored in able:
            await _do(ctx, act, stored, now, ceiling)
        one, many = ACTS[act].what
        return f"{count(len(able), f'{one} was', f'{many} were')} {ACTS[act].past}."

    none = Conflict(f"None of these surveys can be {ACTS[act].past}: {_told(hindered.values())}.")
    # The question is asked again when an author saved one of them meanwhile.
    also = [("about", mark_of((one.uid, one.revision) for one in able))] if act == "publish" else []
    return await act_on_many(ctx, len(able), url="/surveys/list", none=none, ask=ask, do=act_on_them, also=also)


async def _may(ctx: Context, act: str) -> str:
    """The workspace's ceiling. Raises Forbidden for a person without the right."""
    if not ctx.may(needed_for(act)):
        raise Forbidden(needed(needed_for(act)))
    ceiling = await ceiling_of(ctx.db)
    if act != "archive":
        refuse_above(ceiling)
    return ceiling


async def _hindrance(ctx: Context, act: str, stored: Stored, ceiling: str, now: datetime) -> Hindrance | None:
    """As `hindrance`; an anonymous survey also needs enough people."""
    why = hindrance(act, stored, ceiling, now)
    if why or act != "publish":
        return why
    few = await audience.too_few(ctx.db, stored.definition)
    return ("asks too few people to be anonymous", "ask too few people to be anonymous") if few else None


async def _do(ctx: Context, act: str, stored: Stored, now: datetime, ceiling: str) -> None:
    match act:
        case "publish":
            await authoring.publish(ctx.db, ctx.actor, stored.uid, now, ceiling, revision=stored.revision)
        case "archive":
            await authoring.archive(ctx.db, ctx.actor, stored.uid)
        case "delete":
            await authoring.delete(ctx.db, ctx.actor, stored.uid)


async def _question(ctx: Context, act: str, able: Sequence[Stored], staying: str) -> dict[str, Any]:
    consequence, number, unit = await _consequence(ctx, act, able)
    return {
        "verb": act.capitalize(),
        "what": count(len(able), *ACTS[act].what),
        "consequence": consequence + staying,
        "number": number,
        "unit": unit,
        "danger": act != "publish",
    }


async def _consequence(ctx: Context, act: str, able: Sequence[Stored]) -> tuple[str, int, str]:
    """What the act does, and its number with the unit."""
    responses = sum(one.responses for one in able)
    if act == "publish":
        number = await audience.size(ctx.db, *(one.definition for one in able))
        return _publishing(able, responses), number, "person is asked" if number == 1 else "people are asked"
    if act == "archive":
        return _archiving(able), responses, "response stays" if responses == 1 else "responses stay"
    questions = sum(len(one.questions) for one in able)
    says = "They were never asked. They can't be restored; the audit keeps their text."
    return says, questions, "question goes with them" if questions == 1 else "questions go with them"


def _archiving(able: Sequence[Stored]) -> str:
    """It also closes an anonymous version, for ever."""
    apart = sum(one.definition.is_anonymous for one in able)
    says = "People are no longer asked, and those who have not answered yet no longer can."
    if apart < len(able):
        what = "Of the others, answers" if apart else "Answers"
        stays = f" {what} stay as they are, and publishing again undoes it: same versions, same answers."
    else:
        stays = ""
    closed = (
        f" {count(apart, 'anonymous survey is', 'anonymous surveys are')} closed for good: answers are opened now, shown where at least five"
        " people answered, else deleted. Publishing again asks everybody for a new version."
    )
    return says + (closed if apart else "") + stays


def _publishing(able: Sequence[Stored], responses: int) -> str:
    required = sum(one.definition.enforcement == "required" for one in able)
    says = "Each asks the people of its audience within its own window."
    if required:
        says += f" {count(required, 'is required and', 'are required and')} can't be closed before an answer."
    if responses:
        were = count(responses, "response was", "responses were")
        says += f" {were} given before; who gave one is not asked again."
    return f"{says} Archiving ends it."


def _staying(why: Iterable[Hindrance], selected: int) -> str:
    """A sentence on those of the selection that stay as they are, "" when there are none."""
    why = list(why)
    if not why:
        return ""
    stay = "stays as it is" if len(why) == 1 else "stay as they are"
    return f" {len(why):,} of the {selected:,} selected {stay}: {_told(why)}."


def _told(why: Iterable[Hindrance]) -> str:
    return ", ".join(count(number, *reason) for reason, number in sorted(Counter(why).items()))


ROUTES = [bulk]
