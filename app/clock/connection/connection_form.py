"""What an operator gives of the time-clock server, and whether it may be saved. Saving: saved.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.clock.profiles import PROFILES, OverrideError, overridden
from app.clock.remote import checked_base_url
from app.errors import FieldError, Invalid
from app.secrets import Secret
from app.wording.zone_names import all_zones


@dataclass(frozen=True, slots=True)
class ConnectionForm:
    """What an operator gives. `password` None keeps the saved one."""

    base_url: str
    username: str
    profile: str
    timezone: str
    password: Secret | None = None
    company: str | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)


def refuse_without_password(before: Mapping[str, Any] | None, values: Mapping[str, Any], form: ConnectionForm) -> None:
    """Raises Invalid. Otherwise an operator could send the saved password to a server of their own."""
    if form.password is not None:
        return
    if before is None:
        raise Invalid.at("password", "Give the password.")
    if before["base_url"] != values["base_url"]:
        raise Invalid.at("password", "Give the password again: it will be sent to another address.")


def checked(form: ConnectionForm) -> dict[str, Any]:
    """The values as they are stored. Raises Invalid naming each wrong field."""
    errors: list[FieldError] = []
    values: dict[str, Any] = {
        "base_url": form.base_url,
        "username": form.username.strip(),
        "company": (form.company or "").strip() or None,
        "profile": form.profile,
        "timezone": form.timezone,
        "overrides": dict(form.overrides),
    }
    try:
        values["base_url"] = checked_base_url(form.base_url)
    except ValueError as error:
        errors.append(FieldError("base_url", str(error)))
    if not values["username"]:
        errors.append(FieldError("username", "Give the user name."))
    if form.profile not in PROFILES:
        errors.append(FieldError("profile", f"Choose one of {', '.join(PROFILES)}."))
    if form.timezone not in all_zones():
        errors.append(FieldError("timezone", f"{form.timezone!r} is not a time zone; write it like Europe/Berlin."))
    if form.password is not None and not form.password:
        errors.append(FieldError("password", "Give the password."))
    if form.profile in PROFILES:
        errors += _override_errors(form)
    if errors:
        raise Invalid(" ".join(error.message for error in errors), details=errors)
    return values


def _override_errors(form: ConnectionForm) -> list[FieldError]:
    try:
        overridden(PROFILES[form.profile], form.overrides)
    except OverrideError as error:
        return [FieldError("overrides", str(error))]
    return []
