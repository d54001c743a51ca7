"""What each kind of time-clock server is like, as data: paths, names, codes, formats. Nothing here talks to one."""

from collections.abc import Mapping

from app.clock.profiles.cloud import CLOUD
from app.clock.profiles.onprem import ONPREM
from app.clock.profiles.overriding import OverrideError, overridden
from app.clock.profiles.profile import RESOURCES, Profile

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (CLOUD, ONPREM)}

__all__ = ["CLOUD", "ONPREM", "PROFILES", "RESOURCES", "OverrideError", "Profile", "overridden"]
