"""The words of surveys as a person meets them: each in the first of the person's languages that it has."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Text, bindparam, case, exists, func, null, or_, select, true
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql import FromClause
from sqlalchemy.sql.elements import ColumnElement

from app.db.direct import Compiled, driver
from app.db.session import workspace_of
from app.surveys import question_details
from app.surveys.asking.kept_items import KeptItems
from app.surveys.item import Item
from app.surveys.ledger.translated_answers import question_in
from app.surveys.models import LanguageShown, Question, Survey
from app.surveys.translations import candidates, survey_texts

_survey, _asked = Survey.__table__, Question.__table__
_seen = LanguageShown.__table__
# The first of the tags that would do (`translations.candidates`) which the survey has; null for a survey that has no
# other language than its own, without a look at the tags.
_wanted = func.unnest(bindparam("tags", type_=ARRAY(Text))).table_valued("tag", with_ordinality="place")
_wanted = _wanted.render_derived(name="wanted")
_chosen = (
    select(_wanted.c.tag)
    .where(or_(_wanted.c.tag == _survey.c.language, _survey.c.translations.has_key(_wanted.c.tag)))
    .order_by(_wanted.c.place)
    .limit(1)
    .scalar_subquery()
)
SPOKEN = (
    select(
        case((_survey.c.translations.is_(None), null()), else_=func.coalesce(_chosen, _survey.c.language)).label("tag")
    )
    .correlate(_survey)
    .lateral("spoken")
)


def _in_it(table: FromClause) -> ColumnElement[Any]:
    """What of its translations is in the chosen language."""
    return table.c.translations.op("->", return_type=JSONB())(SPOKEN.c.tag)


_questions = (
    select(
        func.jsonb_agg(
            aggregate_order_by(
                func.jsonb_build_array(
                    _asked.c.key,
                    _asked.c.label,
                    _asked.c.type,
                    _asked.c.options,
                    _asked.c.required,
                    _asked.c.details,
                    _in_it(_asked),
                ),
                _asked.c.position,
            ),
            type_=JSONB,
        )
    )
    .where(_asked.c.survey_id == _survey.c.id)
    .correlate(_survey, SPOKEN)
    .scalar_subquery()
    .label("questions")
)
_was_shown = (
    exists()
    .where(_seen.c.survey_id == _survey.c.id, _seen.c.version == _survey.c.version, _seen.c.language == SPOKEN.c.tag)
    .label("was_shown")
)
WORDS = (
    _survey.c.title,
    _survey.c.type,
    _survey.c.message,
    _survey.c.closing_html,
    _survey.c.anonymity,
    _survey.c.split,
    _survey.c.category,
    _survey.c.language,
    SPOKEN.c.tag,
    _in_it(_survey).label("texts"),
    _was_shown,
    _questions,
)
_CHOSEN = _survey.c.id == func.any(bindparam("ids", type_=ARRAY(BigInteger)))
_NOW = (
    _survey.c.id,
    _survey.c.uid,
    _survey.c.revision,
    _survey.c.updated_at,
    _survey.c.wording_id,
    _survey.c.enforcement,
    _survey.c.category,
    _survey.c.ends_at,
    SPOKEN.c.tag,
    _was_shown,
)
_ITEMS_NOW = Compiled(select(*_NOW).join(SPOKEN, true()).where(_CHOSEN))
_ITEMS = Compiled(
    select(
        _survey.c.id,
        _survey.c.uid,
        _survey.c.revision,
        _survey.c.updated_at,
        _survey.c.wording_id,
        _survey.c.version,
        _survey.c.content_hash,
        _survey.c.enforcement,
        _survey.c.ends_at,
        *WORDS,
    )
    .join(SPOKEN, true())
    .where(_CHOSEN)
)
_kept = KeptItems()


async def read(db: AsyncSession, ids: Sequence[int], languages: Iterable[str]) -> dict[int, Item]:
    """By the numbers of their rows; one that is gone is missing.
    `languages` are tags of what the person reads, best first."""
    if not ids:
        return {}
    workspace, given = workspace_of(db), {"ids": list(ids), "tags": candidates(languages)}
    # The words alone are kept: all else may change from one call to the next.
    rows = await _ITEMS_NOW.rows(driver(db), given)
    found = {row.id: item for row in rows if (item := _kept.find(workspace, row))}
    if missing := [one for one in ids if one not in found]:
        for row in await _ITEMS.rows(driver(db), {**given, "ids": missing}):
            found[row.id] = item_of(row, workspace)
            _kept.keep(row, found[row.id])
    return found


def item_of(row: Any, workspace: str) -> Item:
    """Of a row with WORDS, and with uid, version, content_hash, enforcement and ends_at of its survey."""
    texts = survey_texts(row.texts)
    nothing: dict[str, Any] | None = None if row.texts is None else {}
    said = {"title": texts.title, "message": texts.message, "closing_html": texts.closing_html}
    return Item(
        workspace=workspace,
        survey=row.uid,
        version=row.version,
        content_hash=row.content_hash,
        type=row.type,
        enforcement=row.enforcement,
        title=texts.title or row.title,
        message_html=texts.message or row.message,
        category=row.category,
        ends_at=row.ends_at,
        questions=tuple(
            question_in(
                (UUID(key), label, kind, tuple(options), required, question_details.read(details)), said_in or nothing
            )
            for key, label, kind, options, required, details, said_in in row.questions or ()
        ),
        closing_html=texts.closing_html or row.closing_html,
        language=row.tag or row.language,
        own_language=row.language,
        has_translations=row.tag is not None,
        own=frozenset(name for name, one in said.items() if not one) if row.texts is not None else frozenset(),
        is_first_in=row.texts is not None and not row.was_shown,
        anonymity=row.anonymity,
        split=row.split,
    )
