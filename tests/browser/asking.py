"""Surveys for the browser tests: published for employees alone, so that they open over no one else's pages;
archived after."""

from typing import Any

from sqlalchemy import update

from app.db.session import Database
from app.surveys.models import Survey
from tests.browser.in_database import in_database
from tests.surveys.drafted import published

EMPLOYEES = ["employee"]
REQUIRED = {"enforcement": "required", "snooze_hours": None, "cooldown_days": None, "max_prompts": None}
STARS = {"label": "How was the food?", "type": "star_rating", "required": True}
WHERE = {"label": "Where do you eat?", "type": "single_choice", "options": ["Canteen", "Desk", "Out"]}
WHY = {"label": "Why?", "type": "free_text"}
AGREE = {"label": "I agree that my photograph is shown.", "type": "agreement", "required": True}
EVERY_TYPE = [
    STARS,
    {"label": "How likely?", "type": "scale", "options": [str(n) for n in range(11)]},
    {"label": "The portions are", "type": "scale", "options": ["Small", "Right", "Large"], "required": True},
    {**WHERE, "options": [f"Option number {n}" for n in range(1, 51)]},
    {
        "label": "A label without end, " * 20,
        "type": "multiple_choice",
        "options": ["Soup", "x" * 200],
        "required": True,
    },
    WHY,
    AGREE,
]


def ask(database_url: str, *several: dict[str, Any]) -> None:
    """Publishes them in this order of the queue, where all are required or none is."""

    async def publish(database: Database) -> None:
        for fields in several:
            async with database.transaction() as db:
                await published(db, **{"user_types": EMPLOYEES, "cooldown_days": 0, **fields})

    in_database(database_url, publish)


def archive_all(database_url: str) -> None:
    async def archive(database: Database) -> None:
        async with database.transaction() as db:
            # Those of the demo ask clients alone (portal.py).
            await db.execute(update(Survey).where(Survey.user_types != ["client"]).values(status="archived"))

    in_database(database_url, archive)
