"""Writes a definition into its rows: columns, questions, and the wording that people meet."""

from typing import Any
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys import question_details
from app.surveys.authoring.definition import Definition
from app.surveys.models import Question, Wording
from app.surveys.rounds import repeats
from app.surveys.translations import written_all


def columns(definition: Definition) -> dict[str, Any]:
    """The columns of the row in `surveys`, for a tidied definition. A repeating survey gets its window from its
    rounds."""
    not_here = ("questions", "starts_at", "ends_at") if definition.repeat else ("questions",)
    values = {name: getattr(definition, name) for name in Definition.__dataclass_fields__ if name not in not_here}
    values["repeat"] = repeats.written(definition.repeat)
    lists = {"user_types": list(definition.user_types), "tenants": list(definition.tenants)}
    needed = list(question_details.needs(definition.questions))
    translated = written_all(definition.translations)
    return {
        **values,
        **lists,
        "needs": needed,
        "translations": translated,
        "content_hash": definition.content_hash,
    }


async def write_questions(db: AsyncSession, survey_id: int, definition: Definition) -> None:
    """Writes the rows of the definition's questions. Every question has its key."""
    keys = [one.key for one in definition.questions]
    await db.execute(delete(Question).where(Question.survey_id == survey_id, Question.key.not_in(keys)))
    rows = [
        {
            "key": one.key,
            "survey_id": survey_id,
            "position": position,
            "label": one.label,
            "type": one.type,
            "options": list(one.options),
            "required": one.required,
            "details": question_details.written(one.details) or None,
            "translations": written_all(one.translations),
        }
        for position, one in enumerate(definition.questions)
    ]
    if rows:
        statement = insert(Question)
        changed = ("position", "label", "type", "options", "required", "details", "translations")
        new = {name: statement.excluded[name] for name in changed}
        await db.execute(statement.on_conflict_do_update(index_elements=[Question.key], set_=new), rows)


async def wording(db: AsyncSession, uid: UUID, version: int, definition: Definition) -> int:
    """The row of these exact words. It is appended once, because nothing in the ledger changes."""
    keys = [str(one.key) for one in definition.questions]
    same = {
        "survey_uid": uid,
        "version": version,
        "content_hash": definition.content_hash,
        "question_keys": keys,
    }
    statement = insert(Wording).values(**same, content=definition.content).on_conflict_do_nothing()
    await db.execute(statement)
    found: int = (await db.scalars(select(Wording.id).filter_by(**same))).one()
    return found
