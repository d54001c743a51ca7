"""Surveys for tests: drafted or published in the workspace of an open transaction, by default one optional feedback question."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import workspace_of
from app.surveys.definition import Definition, Question, checked
from app.surveys.item import Item, ItemQuestion
from app.surveys.models import Question as QuestionRow
from app.surveys.models import Survey, Wording

HOW_WAS_IT = {"label": "How was it?", "type": "free_text"}


@dataclass(frozen=True)
class Stored:
    """A survey as it was stored; `definition.questions` have their keys."""

    workspace: str
    id: int
    uid: UUID
    definition: Definition
    status: str
    version: int
    content_hash: str
    wording_id: int | None

    @property
    def questions(self) -> tuple[Question, ...]:
        return self.definition.questions


def question(fields: dict[str, Any]) -> Question:
    """`question(dict(label="Why?", type="single_choice", options=["a", "b"]))`."""
    options = tuple(fields.get("options", ()))
    return Question(fields.get("key"), fields["label"], fields["type"], options, fields.get("required", False))


def defined(**fields: Any) -> Definition:
    """A checked definition; what is not given is that of the default survey."""
    asked = [question(one) for one in fields.pop("questions", [HOW_WAS_IT])]
    return checked(
        Definition(
            **{"title": "Lunch", "type": "feedback", "enforcement": "optional", **fields, "questions": tuple(asked)}
        )
    )


async def drafted(db: AsyncSession, **fields: Any) -> Stored:
    """A draft. `fields` are those of the definition, `questions` as dictionaries."""
    return await _stored(db, defined(**fields), {})


async def published(db: AsyncSession, **fields: Any) -> Stored:
    """A published survey. Besides the definition's fields come other columns, such as `version` or `published_at`."""
    columns = {name: fields.pop(name) for name in [*fields] if name in Survey.__table__.c and name not in _DEFINED}
    columns = {"status": "published", "published_at": datetime.now(UTC), **columns}
    stored = await _stored(db, defined(**fields), columns)
    wording_id = await db.scalar(
        insert(Wording)
        .values(
            survey_uid=stored.uid,
            version=stored.version,
            content_hash=stored.content_hash,
            content=stored.definition.content,
            question_keys=[str(one.key) for one in stored.questions],
        )
        .returning(Wording.id)
    )
    await db.execute(update(Survey).where(Survey.id == stored.id).values(wording_id=wording_id))
    return Stored(**{**{name: getattr(stored, name) for name in Stored.__annotations__}, "wording_id": wording_id})


def item_of(stored: Any) -> Item:
    """The survey as a person meets it."""
    defined = stored.definition
    return Item(
        workspace=stored.workspace,
        survey=stored.uid,
        version=stored.version,
        content_hash=stored.content_hash,
        type=defined.type,
        enforcement=defined.enforcement,
        title=defined.title,
        message_html=defined.message,
        category=defined.category,
        ends_at=defined.ends_at,
        questions=tuple(
            ItemQuestion(one.key, one.label, one.type, one.options, one.required) for one in defined.questions
        ),
    )


_DEFINED = frozenset(Definition.__dataclass_fields__)


async def _stored(db: AsyncSession, definition: Definition, columns: dict[str, Any]) -> Stored:
    values = {name: getattr(definition, name) for name in _DEFINED if name != "questions"}
    values |= {"user_types": list(definition.user_types), "tenants": list(definition.tenants)}
    row = (
        await db.execute(
            insert(Survey)
            .values(**values, content_hash=definition.content_hash, created_by="tests", updated_by="tests", **columns)
            .returning(Survey.id, Survey.uid, Survey.status, Survey.version)
        )
    ).one()
    asked = []
    for position, one in enumerate(definition.questions):
        kept = {} if one.key is None else {"key": one.key}
        key = await db.scalar(
            insert(QuestionRow)
            .values(
                **kept,
                survey_id=row.id,
                position=position,
                label=one.label,
                type=one.type,
                options=list(one.options),
                required=one.required,
            )
            .returning(QuestionRow.key)
        )
        asked.append(Question(key, one.label, one.type, one.options, one.required))
    definition = Definition(**{name: getattr(definition, name) for name in _DEFINED} | {"questions": tuple(asked)})
    return Stored(workspace_of(db), row.id, row.uid, definition, row.status, row.version, definition.content_hash, None)
