"""In which languages people saw a version. Its own language is not noted, nor that of a survey with one language.

An author may change the texts of a language freely until somebody has seen them.
"""

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.models import LanguageShown


async def shown(db: AsyncSession, survey_id: int, version: int) -> frozenset[str]:
    """The tags of the other languages in which people saw this version."""
    statement = select(LanguageShown.language).filter_by(survey_id=survey_id, version=version)
    return frozenset(await db.scalars(statement))


async def note(db: AsyncSession, survey_id: int, version: int, language: str) -> None:
    """From now on this language counts as shown. Several processes may note it at once."""
    values = {"survey_id": survey_id, "version": version, "language": language, "shown_at": func.now()}
    await db.execute(insert(LanguageShown).values(values).on_conflict_do_nothing())
