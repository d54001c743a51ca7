"""The pages of the surveys module; ROUTES and MENU are what app.main mounts."""

from litestar.types import ControllerRouterHandler

from app.surveys.pages import (
    acts,
    bulk_acts,
    editor,
    editor_saving,
    erase,
    home,
    overview,
    prompt,
    ratings,
    responses,
    starting,
    surveys,
    trying,
    view,
    why,
)
from app.surveys.pages.editing import languages
from app.surveys.pages.me import answers, questions
from app.surveys.pages.results import anonymous, comments, rounds, versions
from app.surveys.pages.unanswered import reminding, waiting
from app.web.menu import MenuGroup, MenuItem

ROUTES: list[ControllerRouterHandler] = [
    *home.ROUTES,
    *surveys.ROUTES,
    *starting.ROUTES,
    *editor.ROUTES,
    *editor_saving.ROUTES,
    *acts.ROUTES,
    *bulk_acts.ROUTES,
    *prompt.ROUTES,
    *questions.ROUTES,
    *answers.ROUTES,
    *overview.ROUTES,
    *responses.ROUTES,
    *view.ROUTES,
    *comments.ROUTES,
    *versions.ROUTES,
    *rounds.ROUTES,
    *anonymous.ROUTES,
    *why.ROUTES,
    *waiting.ROUTES,
    *reminding.ROUTES,
    *trying.ROUTES,
    *languages.ROUTES,
    *ratings.ROUTES,
    *erase.ROUTES,
]
LONG_ACTS = tuple(bulk_acts.LONG.values())
OF_ONE_SURVEY = tuple(
    f"/surveys/{act}"
    for act in (
        "view",
        "results",
        "try",
        "languages",
        "waiting",
        "start",
        "import",
        "new",
        "edit",
        "save",
        "form",
        "publish",
        "archive",
        "delete",
    )
)
MENU: tuple[MenuGroup, ...] = (
    MenuGroup(
        "Surveys",
        (
            MenuItem("Overview", "/surveys/overview", "chart-bar", "surveys.view", "surveys"),
            MenuItem("Surveys", "/surveys/list", "forms", "surveys.view", "surveys", also=OF_ONE_SURVEY),
            MenuItem("Responses", "/surveys/responses", "clipboard-list", "surveys.view", "surveys"),
            MenuItem("Rating Details", "/surveys/ratings", "star", "surveys.view", "surveys", platform_only=True),
        ),
    ),
)
