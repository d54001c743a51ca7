"""The profile `onprem`: the 8.x and 9.x server that customers run in their own building."""

from app.clock.profiles.cloud import ALIASES, DEVICE_STATES
from app.clock.profiles.profile import Envelope, Paging, Profile, SignInCall

ONPREM = Profile(
    name="onprem",
    title="Server in your own building",
    sign_in=SignInCall(
        path="/jwt-api-token-auth/",
        username="username",
        password="password",  # noqa: S106 - the name of a field
        refresh_path="/jwt-api-token-refresh/",
        refresh_sends="token",
        refresh_with="access",
        bare_400_hint="A server with several companies answers this when the company is missing. Fill in Company.",
    ),
    paths={
        "departments": "/personnel/api/departments/",
        "positions": "/personnel/api/positions/",
        "areas": "/personnel/api/areas/",
        "employees": "/personnel/api/employees/",
        "devices": "/iclock/api/terminals/",
        "transactions": "/iclock/api/transactions/",
    },
    envelope=Envelope(
        rows=(("data",), ("results",)),
        total=(("count",),),
        code_required=False,
        session=((), ("data",)),
    ),
    success_codes=frozenset({"0"}),
    unauthenticated_codes=frozenset({"401", "token_not_valid", "not_authenticated", "authentication_failed"}),
    paging=Paging(sizes=("page_size", "limit"), cap=5000),
    aliases=ALIASES,
    device_states=DEVICE_STATES,
    captured_photo="/media/punches/{id}/",
    past_end_status=404,
)
