"""The pages of the surveys module; ROUTES and MENU are what app.main mounts."""

from litestar.types import ControllerRouterHandler

from app.surveys.pages import acts, editor, erase, home, overview, prompt, ratings, responses, saving, surveys
from app.web.menu import MenuGroup, MenuItem

ROUTES: list[ControllerRouterHandler] = [
    *home.ROUTES,
    *surveys.ROUTES,
    *editor.ROUTES,
    *saving.ROUTES,
    *acts.ROUTES,
    *prompt.ROUTES,
    *overview.ROUTES,
    *responses.ROUTES,
    *ratings.ROUTES,
    *erase.ROUTES,
]
# In the order of the spec ("Admin pages").
MENU: tuple[MenuGroup, ...] = (
    MenuGroup(
        "Surveys",
        (
            MenuItem("Overview", "/surveys/overview", "chart-bar", "surveys.view", "surveys"),
            MenuItem("Surveys", "/surveys/list", "forms", "surveys.view", "surveys"),
            MenuItem("Responses", "/surveys/responses", "clipboard-list", "surveys.view", "surveys"),
            MenuItem("Rating details", "/surveys/ratings", "star", "surveys.view", "surveys", platform_only=True),
        ),
    ),
)
