"""What surveys offer to the host's pages: surveys by title for the palette, the responses of a person, and what the
audit calls surveys."""

from sqlalchemy import select

from app.accounts.policies import enabled
from app.db.searching import contains
from app.surveys.models import Survey
from app.surveys.results import queries
from app.surveys.words import OUTCOMES, STATUSES
from app.web.context import Context
from app.web.menu import MenuItem
from app.web.site import MOST_EACH, Found, KnownPerson, PaletteAct, Part

SUBJECTS = {"survey": select(Survey.uid, Survey.title.label("name")).where(Survey.deleted_at.is_(None))}

ACTS = (PaletteAct(MenuItem("New survey", "/surveys/new", "plus", "surveys.author", "surveys"), "Surveys"),)


async def surveys(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    """Surveys of the workspace by title or category, published ones first."""
    if not ctx.may("surveys.view") or not enabled(ctx.policies, "module_surveys"):
        return "Surveys", []
    statement = (
        select(Survey.uid, Survey.title, Survey.status)
        .where(Survey.deleted_at.is_(None), contains(Survey.title, Survey.category)(asked))
        .order_by((Survey.status == "published").desc(), Survey.title, Survey.id)
        .limit(MOST_EACH)
    )
    return "Surveys", [
        Found(f"/surveys/view/{row.uid}", row.title, STATUSES[row.status], "forms")
        for row in await ctx.db.execute(statement)
    ]


async def responses_of_person(ctx: Context, person: KnownPerson) -> Part | None:
    """The newest responses of the person's account, without erased ones."""
    if person.user_id is None or not ctx.may("surveys.view") or not enabled(ctx.policies, "module_surveys"):
        return None
    newest = (await ctx.db.execute(queries.newest_of(person.user_id).limit(MOST_EACH))).all()
    shown = {"rows": newest, "user_id": person.user_id, "outcomes": OUTCOMES, "is_erased": False}
    if not newest:
        erased = queries.has_erased_key(person.user_id)
        shown["is_erased"] = await ctx.db.scalar(select(erased))
    return Part("Surveys", "surveys/person_responses.html", shown)
