"""The pages of the clock module; ROUTES and MENU are what app.main mounts."""

from litestar.types import ControllerRouterHandler

from app.clock.pages import (
    analytics,
    binding_acts,
    dashboard,
    devices,
    employee,
    employees,
    logs,
    long_acts,
    organization,
    photos,
    punch_acts,
    settings,
    setup,
    transactions,
)
from app.clock.pages.sync import acts, center, gone
from app.clock.pages.sync import run as sync_run
from app.web.menu import MenuGroup, MenuItem

ROUTES: list[ControllerRouterHandler] = [
    *dashboard.ROUTES,
    *employees.ROUTES,
    *long_acts.ROUTES,
    *employee.ROUTES,
    *transactions.ROUTES,
    *photos.ROUTES,
    *devices.ROUTES,
    *center.ROUTES,
    *gone.ROUTES,
    *acts.ROUTES,
    *sync_run.ROUTES,
    *logs.ROUTES,
    *organization.ROUTES,
    *analytics.ROUTES,
    *settings.ROUTES,
    *setup.ROUTES,
]
LONG_ACTS = tuple(one for long in (binding_acts.LONG, punch_acts.LONG, devices.LONG) for one in long.values())
MENU: tuple[MenuGroup, ...] = (
    MenuGroup(
        "Time clock",
        (
            MenuItem("Dashboard", "/clock", "layout-dashboard", "clock.dashboard", "clock"),
            MenuItem("Employees & Bindings", "/clock_employees", "users", "clock.employees", "clock"),
            MenuItem("Attendance Transactions", "/clock_transactions", "timeline", "clock.transactions", "clock"),
            MenuItem("Devices", "/clock_devices", "devices", "clock.devices", "clock"),
            MenuItem("Organization", "/clock_organization", "hierarchy-2", "clock.organization", "clock"),
            MenuItem("Sync Center", "/clock_sync", "refresh", "clock.sync.view", "clock"),
            MenuItem("Analytics", "/clock_analytics", "chart-bar", "clock.analytics", "clock"),
            MenuItem("API Logs", "/clock_logs", "list-details", "clock.logs", "clock"),
            MenuItem("Settings", "/clock_settings", "settings", "clock.settings", "clock"),
        ),
    ),
)
