"""The advanced setting: other paths and parameter names than a profile's own. Checks them before anything is sent."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.clock.profiles.profile import RESOURCES, Profile

WRONG_PATHS = (
    "/api/jwt-api-token-auth/",
    "/web/oauth/api/v2/sign_in/",
    "/web/att/api/v2/employee_schedules/",
)
_PATH = re.compile(r"/(?:[A-Za-z0-9._~-]+/)+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\[\]-]{0,63}")
_PATH_NAMES = (*RESOURCES, "schedules")


class OverrideError(ValueError):
    """An override that cannot be used; the message names it and says what would be right."""


def overridden(profile: Profile, overrides: Mapping[str, str]) -> Profile:
    """The profile with `overrides` applied, such as {"paths.transactions": "/x/", "params.page": "pageNo"}.

    Raises OverrideError for an unknown name, a path that does not end in "/", and the paths that are known to be wrong.
    """
    for name, value in overrides.items():
        change = _CHANGES.get(name)
        if change is None:
            raise OverrideError(f"There is no setting {name!r}; known are {', '.join(sorted(_CHANGES))}.")
        check = _checked_path if name.startswith("paths.") else _checked_name
        profile = change(profile, check(name, value.strip()))
    return profile


def _checked_path(name: str, path: str) -> str:
    if not path.endswith("/"):
        raise OverrideError(f"{name}: every path of the server ends in a slash; {path!r} does not.")
    segments = path.strip("/").split("/")
    if not _PATH.fullmatch(path) or "." in segments or ".." in segments:
        raise OverrideError(f"{name}: {path!r} is not a path; write it like /iclock/api/transactions/.")
    if any(path == wrong or path.endswith(wrong) for wrong in WRONG_PATHS):
        raise OverrideError(f"{name}: {path} is known to be wrong on these servers and is never called.")
    return path


def _checked_name(name: str, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise OverrideError(f"{name}: {value!r} cannot be the name of a parameter.")
    return value


Change = Callable[[Profile, str], Profile]


def _resource_path(resource: str) -> Change:
    return lambda profile, path: replace(profile, paths={**profile.paths, resource: path})


def _sign_in(field: str) -> Change:
    def change(profile: Profile, value: Any) -> Profile:
        return replace(profile, sign_in=replace(profile.sign_in, **{field: value}))

    return change


def _filter(field: str) -> Change:
    return lambda profile, value: replace(profile, filters=replace(profile.filters, **{field: value}))


_CHANGES: Mapping[str, Change] = {
    **{f"paths.{resource}": _resource_path(resource) for resource in _PATH_NAMES},
    "paths.sign_in": _sign_in("path"),
    "paths.refresh": _sign_in("refresh_path"),
    "params.username": _sign_in("username"),
    "params.password": _sign_in("password"),
    "params.company": _sign_in("company"),
    "params.company_username": _sign_in("company_username"),
    "params.company_password": _sign_in("company_password"),
    "params.refresh": _sign_in("refresh_sends"),
    **{f"params.{field}": _filter(field) for field in ("start", "end", "emp_code", "start_date", "end_date")},
    "params.page": lambda profile, value: replace(profile, paging=replace(profile.paging, page=value)),
    "params.page_size": lambda profile, value: replace(profile, paging=replace(profile.paging, sizes=(value,))),
}
