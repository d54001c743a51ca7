"""What other programs follow of surveys: each list as it is now, or all of it that changed since an instant. Reads only."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, or_, select

from app.surveys.models import Survey
from app.surveys.results import queries


async def surveys(since: datetime | None) -> Select[Any]:
    """Those that were ever published; with `since` what was removed meanwhile, too."""
    changed: ColumnElement[bool] = Survey.deleted_at.is_(None)
    if since is not None:
        changed = or_(Survey.updated_at >= since, Survey.deleted_at >= since)
    columns = (*Survey.__table__.c, queries.questions_as_now().label("questions"))
    return select(*columns).where(Survey.published_at.is_not(None), changed)
