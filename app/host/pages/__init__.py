"""The host's pages; ROUTES and MENU are what app.main mounts."""

from litestar.types import ControllerRouterHandler

from app.host.pages import (
    acts,
    api_reference,
    apps,
    apps_forms,
    attendance,
    attendance_forms,
    attendance_record,
    attendance_views,
    help_page,
    home,
    kiosk,
    locks,
    people,
    people_forms,
    problems,
    views,
    webhooks,
)
from app.host.pages.admin import administration, forgotten, sign_in, unsubscribing
from app.host.pages.backups import ping
from app.host.pages.problems import problem_list, seen
from app.web.menu import MenuGroup, MenuItem
from app.web.site import PaletteAct

ROUTES: list[ControllerRouterHandler] = [
    *home.ROUTES,
    *help_page.ROUTES,
    *api_reference.ROUTES,
    *sign_in.ROUTES,
    *forgotten.ROUTES,
    *unsubscribing.ROUTES,
    *people.ROUTES,
    *people_forms.ROUTES,
    *attendance.ROUTES,
    *attendance_record.ROUTES,
    *attendance_forms.ROUTES,
    *locks.ROUTES,
    *kiosk.ROUTES,
    *apps.ROUTES,
    *apps_forms.ROUTES,
    *problems.ROUTES,
    *views.ROUTES,
    *webhooks.ROUTES,
    *acts.ROUTES,
    *administration.ROUTES,
]
# Other programs than browsers call these, so they come without the token of a form.
FROM_OUTSIDE = (*unsubscribing.FROM_MAIL, *ping.FROM_BACKUPS)
LONG_ACTS = (
    *(one for page in (people, attendance_views, kiosk, apps) for one in page.LONG.values()),
    *administration.LONG_ACTS,
    *problems.LONG_ACTS,
)
MENU: tuple[MenuGroup, ...] = (
    MenuGroup(
        "To do",
        (MenuItem("Problems", problem_list.URL, "alert-triangle", seen.SEE, counts=seen.open_problems),),
        leads=True,
    ),
    MenuGroup(
        "Host",
        (
            MenuItem("People", "/people", "users", "host.people"),
            MenuItem("Attendance", "/attendance", "calendar-stats", "host.attendance"),
            MenuItem("Day Locks", "/attendance/locks", "lock", "host.locks"),
            MenuItem("Kiosk", "/kiosk", "id", "host.people"),
            MenuItem("App Library", "/apps", "apps", "apps.manage", platform_only=True),
        ),
    ),
    administration.MENU,
)
ACTS = (
    PaletteAct(MenuItem("Add a person", "/people/add", "plus", "host.people"), "People"),
    PaletteAct(MenuItem("Import people", "/people/import", "upload", "host.people"), "People"),
    PaletteAct(MenuItem("Add an attendance record", "/attendance/add", "plus", "host.attendance.decide"), "Attendance"),
    PaletteAct(MenuItem("Invite a user", "/admin/users/new", "plus", "admin.users"), "Users"),
    PaletteAct(MenuItem("Make a role", "/admin/roles/new", "plus", "admin.roles"), "Roles"),
    PaletteAct(MenuItem("Make an API token", "/account/tokens/new", "key", None), "Account"),
    PaletteAct(MenuItem("Choose notifications", "/account/notifications", "message", None), "Account"),
)
