"""The profile `cloud`: a server in the vendor's cloud."""

from collections.abc import Mapping

from app.clock.profiles.profile import Envelope, Profile, SignInCall

# Other names of the same fields, which related servers use. The usual name comes first; these are read only when it is
# missing.
ALIASES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "transactions": {
        "emp_code": ("employee_code", "empCode"),
        "punch_time": ("punchTime", "att_time"),
        "punch_state": ("punchState",),
        "terminal_sn": ("terminalSn", "device_sn"),
        "photo": ("photo_url", "capture"),
    },
    "employees": {"emp_code": ("employee_code", "empCode")},
    "devices": {"sn": ("serial_number", "device_sn"), "alias": ("device_name", "terminal_alias")},
    "departments": {"dept_code": ("department_code",), "dept_name": ("department_name",)},
}

DEVICE_STATES = {
    "0": "offline",
    "1": "online",
    "2": "online",
    "3": "offline",
    "online": "online",
    "offline": "offline",
    "true": "online",
    "false": "offline",
}

CLOUD = Profile(
    name="cloud",
    title="Cloud server",
    sign_in=SignInCall(
        path="/web/oauth/api/v2/user_sign_in/",
        username="username",
        password="password",  # noqa: S106 - the name of a field
        refresh_path="/web/oauth/api/v2/refresh_token/",
        refresh_sends="refresh",
        refresh_with="refresh",
    ),
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
    envelope=Envelope(
        rows=(("data", "data"),),
        total=(("data", "total"),),
        pages=(("data", "num_pages"),),
        page=(("data", "page"),),
        session=(("data",), ()),
    ),
    success_codes=frozenset({"ZBSY0000"}),
    unauthenticated_codes=frozenset({"ZBSY0002"}),
    aliases=ALIASES,
    device_states=DEVICE_STATES,
    captured_photo="/media/punches/{id}/",
)
