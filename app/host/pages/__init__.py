"""The host's pages; ROUTES and MENU are what app.main mounts."""

from litestar.types import ControllerRouterHandler

from app.host.pages import (
    administration,
    attendance,
    attendance_forms,
    attendance_record,
    home,
    kiosk,
    locks,
    people,
    people_forms,
    sign_in,
)
from app.web.menu import MenuGroup, MenuItem

ROUTES: list[ControllerRouterHandler] = [
    *home.ROUTES,
    *sign_in.ROUTES,
    *people.ROUTES,
    *people_forms.ROUTES,
    *attendance.ROUTES,
    *attendance_record.ROUTES,
    *attendance_forms.ROUTES,
    *locks.ROUTES,
    *kiosk.ROUTES,
    *administration.ROUTES,
]
MENU: tuple[MenuGroup, ...] = (
    MenuGroup(
        "Host",
        (
            MenuItem("People", "/people", "users", "host.people"),
            MenuItem("Attendance", "/attendance", "calendar-stats", "host.attendance"),
            MenuItem("Day locks", "/attendance/locks", "lock", "host.locks"),
            MenuItem("Kiosk", "/kiosk", "id", "host.people"),
        ),
    ),
    administration.MENU,
)
