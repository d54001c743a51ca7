"""The account page, the command palette and the administration: their routes, and the menu group "Administration"."""

from litestar.types import ControllerRouterHandler

from app.host.pages import palette
from app.host.pages.admin import (
    account,
    audit,
    jobs,
    notifications,
    passkeys,
    policies,
    roles,
    second_factor_pages,
    tenant_administrators,
    tenants,
    tokens,
    user_forms,
    users,
    users_bulk,
)
from app.host.pages.backups import page as backups
from app.web.menu import MenuGroup, MenuItem

ROUTES: list[ControllerRouterHandler] = [
    *account.ROUTES,
    *notifications.ROUTES,
    *second_factor_pages.ROUTES,
    *passkeys.ROUTES,
    *palette.ROUTES,
    *users.ROUTES,
    *users_bulk.ROUTES,
    *user_forms.ROUTES,
    *roles.ROUTES,
    *tenants.ROUTES,
    *tenant_administrators.ROUTES,
    *tokens.ROUTES,
    *policies.ROUTES,
    *backups.ROUTES,
    *audit.ROUTES,
    *jobs.ROUTES,
]
LONG_ACTS = tuple(one for page in (users_bulk, tenants, tokens, jobs) for one in page.LONG.values())
MENU = MenuGroup(
    "Administration",
    (
        MenuItem("Users", "/admin/users", "users-group", "admin.users", also=("/people/erase",)),
        MenuItem("Roles", "/admin/roles", "shield", "admin.roles"),
        MenuItem("Tenants", "/admin/tenants", "building", "admin.tenants", platform_only=True),
        MenuItem("API Tokens", "/admin/tokens", "key", "admin.tokens"),
        MenuItem("Webhooks", "/webhooks", "send", "host.webhooks"),
        MenuItem("Policies", "/admin/policies", "adjustments", "admin.policies"),
        MenuItem("Backups", backups.URL, "archive", "admin.backups", platform_only=True),
        MenuItem("Audit", "/admin/audit", "history", "admin.audit"),
        MenuItem("Jobs", "/admin/jobs", "progress", "admin.jobs"),
    ),
)
