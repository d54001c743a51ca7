"""Which surveys the demo has: on the platform, and in a tenant's workspace."""

from typing import Final

from app.surveys.demo import cast
from app.surveys.demo.apart import TEAM_SPIRIT
from app.surveys.demo.cast import DemoSurvey
from app.surveys.demo.rounds import ENPS
from app.surveys.demo.translated import SAFETY

PLATFORM: Final[tuple[DemoSurvey, ...]] = (
    cast.WEEK,
    cast.PHOTOS,
    cast.PARTY,
    cast.CANTEEN,
    cast.PRIVACY,
    cast.ARRIVAL,
    TEAM_SPIRIT,
    ENPS,
    SAFETY,
    cast.PORTAL,
    cast.REMOTE,
)
TENANT: Final[tuple[DemoSurvey, ...]] = (cast.SHIFTS, cast.TEAM)
