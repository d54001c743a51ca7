"""The two servers as tables: paths, success codes and limits. What their rows look like is in `rows`."""

from dataclasses import dataclass, field

RESOURCES = (
    "departments", "positions", "areas", "locations", "devices", "employees", "transactions", "schedules",
)  # fmt: skip
OTHER_CALLS = ("sign_in", "refresh", "photos")


@dataclass(frozen=True)
class Profile:
    """One generation of the server. `zone_follows_header`: times are in the zone of the Timezone header."""

    name: str
    sign_in: str
    refresh: str
    paths: dict[str, str]
    """Resource to path."""
    text_ids: bool
    default_page: int
    largest_page: int
    zone_follows_header: bool
    one_session: bool
    """A new sign-in of an account ends its other sessions."""
    token_days: float
    routes: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        calls = {"sign_in": self.sign_in, "refresh": self.refresh, **self.paths}
        object.__setattr__(self, "routes", {path: resource for resource, path in calls.items()})


CLOUD = Profile(
    name="cloud",
    sign_in="/web/oauth/api/v2/user_sign_in/",
    refresh="/web/oauth/api/v2/refresh_token/",
    paths={
        "departments": "/web/hr/api/v2/departments/",
        "positions": "/web/hr/api/v2/positions/",
        "areas": "/web/hr/api/v2/areas/",
        "locations": "/web/hr/api/v2/locations/",
        "employees": "/web/hr/api/v2/employees/",
        "devices": "/web/dms/api/v2/devices/",
        "transactions": "/web/att/api/v2/transactions/",
        "schedules": "/web/att/api/v2/schedules/",
    },
    text_ids=True,
    default_page=20,
    largest_page=500,
    zone_follows_header=True,
    one_session=True,
    token_days=1,
)

ONPREM = Profile(
    name="onprem",
    sign_in="/jwt-api-token-auth/",
    refresh="/jwt-api-token-refresh/",
    paths={
        "departments": "/personnel/api/departments/",
        "positions": "/personnel/api/positions/",
        "areas": "/personnel/api/areas/",
        "employees": "/personnel/api/employees/",
        "devices": "/iclock/api/terminals/",
        "transactions": "/iclock/api/transactions/",
    },
    text_ids=False,
    default_page=10,
    largest_page=5000,
    # 8.x and 9.x store what the terminal's clock said and have no idea of zones
    zone_follows_header=False,
    one_session=False,
    token_days=7,
)

PROFILES = {profile.name: profile for profile in (CLOUD, ONPREM)}

REFUSED_PATHS = {
    "/api/jwt-api-token-auth/": 405,
    "/web/oauth/api/v2/sign_in/": 404,
    "/web/att/api/v2/employee_schedules/": 404,
}
"""Paths that people try first, and what the server says."""

PHOTO_PATHS = {"/media/people/": "people", "/media/punches/": "punches"}
"""`<path><code>/` and `<path><id>/`: a PNG."""
