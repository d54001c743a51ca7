"""Surveys for tests: drafted or published in the workspace of an open transaction,
by default one optional feedback question."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.surveys import question_details
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import rows as definition_rows
from app.surveys.authoring.definition import Definition, QuestionDefinition, checked
from app.surveys.authoring.stored import Stored, load
from app.surveys.models import Survey

AUTHOR = Actor(None, "Ann Author")
HOW_WAS_IT = {"label": "How was it?", "type": "free_text"}
CONSENT = {"label": "I agree that my badge opens the door.", "type": "agreement"}
_WHEN_NOTHING_IS_OVER = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = frozenset(Survey.__table__.c.keys()) - frozenset(Definition.__dataclass_fields__)
LUNCH = {"label": "How was lunch?", "type": "single_choice", "options": ["Good", "Bad"], "required": True}


def question(fields: dict[str, Any]) -> QuestionDefinition:
    """`question(dict(label="Why?", type="single_choice", options=["a", "b"]))`; details stand among the fields, as in
    the canonical form."""
    options = tuple(fields.get("options", ()))
    details = question_details.read(fields)
    return QuestionDefinition(
        fields.get("key"), fields["label"], fields["type"], options, fields.get("required", False), details
    )


def defined(**fields: Any) -> Definition:
    """A checked definition; what is not given is that of the default survey."""
    asked = [question(one) for one in fields.pop("questions", [HOW_WAS_IT])]
    defaults = {"title": "Lunch", "type": "feedback", "enforcement": "optional"}
    return checked(Definition(**{**defaults, **fields, "questions": tuple(asked)}))


async def drafted(db: AsyncSession, **fields: Any) -> Stored:
    """A draft. `fields` are those of the definition, `questions` as dictionaries."""
    return await load(db, await authoring.create(db, AUTHOR, defined(**fields), "full"))


async def published(db: AsyncSession, **fields: Any) -> Stored:
    """A published survey, also one that is over. Besides the definition's fields come columns such as `version` or
    `published_at`."""
    columns = {name: fields.pop(name) for name in [*fields] if name in _COLUMNS}
    definition = defined(**fields)
    stored = await load(db, await authoring.create(db, AUTHOR, definition, "full"))
    await authoring.publish(db, AUTHOR, stored.uid, _WHEN_NOTHING_IS_OVER, "full")
    columns = {"published_at": datetime.now(UTC), **columns}
    if "version" in columns:
        version = columns["version"]
        columns["wording_id"] = await definition_rows.wording(db, stored.uid, version, stored.definition)
    await db.execute(update(Survey).where(Survey.id == stored.id).values(columns))
    return await load(db, stored.uid)
