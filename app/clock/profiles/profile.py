"""The shape of a profile. The two tables are in cloud.py and onprem.py; what reads them is app/clock/remote/."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

RESOURCES = ("departments", "positions", "areas", "locations", "devices", "employees", "transactions")


@dataclass(frozen=True, slots=True)
class SignInCall:
    """How a session begins and is renewed. `refresh_sends` is the field that carries the token `refresh_with`."""

    path: str
    username: str
    password: str
    refresh_path: str
    refresh_sends: str
    refresh_with: Literal["access", "refresh"]
    # Multi-tenant builds want these three instead, as soon as a company is configured.
    company: str = "company"
    company_username: str = "email"
    company_password: str = "password"  # noqa: S105 - the name of a field
    access_names: tuple[str, ...] = ("access", "access_token", "accessToken", "token")
    refresh_names: tuple[str, ...] = ("refresh", "refresh_token", "refreshToken")
    life_names: tuple[str, ...] = ("expires_in", "expiresIn")
    end_names: tuple[str, ...] = ("expired_at", "expires_at", "expiredAt")
    bare_400_hint: str = ""


@dataclass(frozen=True, slots=True)
class Paging:
    """Parameter names. `sizes` are all sent: builds differ in the one they obey. `cap` is asked for at most."""

    page: str = "page"
    sizes: tuple[str, ...] = ("page_size",)
    cap: int = 500


@dataclass(frozen=True, slots=True)
class Filters:
    """Parameter names of the punch window and of the schedules of one person."""

    start: str = "start_time"
    end: str = "end_time"
    emp_code: str = "emp_code"
    start_date: str = "start_date"
    end_date: str = "end_date"
    time_format: str = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where a reply keeps what. Each pointer is a path of keys; the first one that is there counts."""

    rows: tuple[tuple[str, ...], ...]
    total: tuple[tuple[str, ...], ...]
    code: str = "code"
    code_required: bool = True
    pages: tuple[tuple[str, ...], ...] = ()
    page: tuple[tuple[str, ...], ...] = ()
    message: tuple[str, ...] = ("message", "msg", "detail", "error", "error_description")
    session: tuple[tuple[str, ...], ...] = ((),)


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of server. `paths` lists what it offers; a resource that is missing there is skipped."""

    name: str
    title: str
    sign_in: SignInCall
    paths: Mapping[str, str]
    envelope: Envelope
    success_codes: frozenset[str]
    unauthenticated_codes: frozenset[str]
    paging: Paging = field(default_factory=Paging)
    filters: Filters = field(default_factory=Filters)
    headers: Mapping[str, str] = field(
        default_factory=lambda: {
            "Authorization": "JWT {token}",
            "Timezone": "{zone}",
            "Accessor": "Web",
            "Accept": "application/json",
        }
    )
    aliases: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    device_states: Mapping[str, str] = field(default_factory=dict)
    # Where the picture is that a punch marked "captured" has; {id} is the punch.
    captured_photo: str | None = None
    default_life_s: int = 23 * 3600
    past_end_status: int | None = None
    gzip: bool = False

    def offers(self, resource: str) -> bool:
        return resource in self.paths

    @property
    def resources(self) -> tuple[str, ...]:
        """What a sync of this server walks, in the order of a run."""
        return tuple(name for name in RESOURCES if name in self.paths)
