"""`/surveys/list`: what it shows, narrows, exports and offers, and what its acts do."""

from typing import Any

from sqlalchemy import update

from app.db.session import Database
from app.host.shared import Tenant
from tests.conftest import Browser
from tests.surveys.drafted import drafted, published


async def test_it_shows_every_survey_with_its_figures(database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        await published(db, title="Lunch", user_types=["staff"], tenants=["main"])
        await drafted(db, title="Doors", enforcement="required", type="consent")
    shown = await vera.get("/surveys/list")
    assert shown.status_code == 200, shown.text
    for text in ("Lunch", "Doors", "Published", "Draft", "Required", "Staff", "Always"):
        assert text in shown.text
