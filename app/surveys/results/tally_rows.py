"""How rows of the ledger and first impressions count, as statements that add up to rows of `survey_tallies`."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Date,
    Integer,
    Select,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    join,
    literal_column,
    select,
    true,
    union_all,
)

from app.surveys.models import WHOLE, Answer, LedgerChange, PromptState, Response, Tombstone

ASKED = "asked"
COLUMNS = ("survey_id", "version", "day", "outcome", "question_key", "choice", "people", "unprompted")
# A literal, not a parameter: otherwise PostgreSQL does not use the index on whole responses.
WHOLE_KEY: ColumnElement[UUID] = literal_column(f"'{WHOLE}'::uuid")
NO_CHOICE: ColumnElement[str] = literal_column("''", Text)
ASKED_OUTCOME: ColumnElement[str] = literal_column(f"'{ASKED}'", Text)
_NONE: ColumnElement[int] = literal_column("0")
_DAY = cast(func.timezone("UTC", Response.recorded_at), Date)
_SHOWN_DAY = cast(func.timezone("UTC", PromptState.first_shown_at), Date)
# Not under a tombstone.
COUNTS = ~exists().where(Tombstone.number == Response.number)
# How a change counts for the two outcomes between which it moves a response: −1 where it leaves, +1 where it arrives.
# Not VALUES: SQLAlchemy compiles a statement with one again in each call, which took longer than the statement itself.
SIDE = union_all(
    *(
        select(literal_column(f"'{outcome}'", Text).label("outcome"), literal_column(sign, Integer).label("sign"))
        for outcome, sign in (("withdrawn", "1"), ("agreed", "-1"))
    )
).subquery("side")
_SIGN = case((LedgerChange.kind == "withdrawn", SIDE.c.sign), else_=-SIDE.c.sign)


def response_rows(which: ColumnElement[bool]) -> tuple[Select[*tuple[Any, ...]], ...]:
    """Ledger rows counted as `COLUMNS`: whole responses, then people per question, then people per choice."""
    keys = (Response.survey_id, Response.version, _DAY, Response.outcome)
    labelled = (Response.survey_id, Response.version, _DAY.label("day"), Response.outcome)
    unprompted = func.count().filter(~Response.prompted).label("unprompted")
    responses = select(
        *labelled, WHOLE_KEY.label("question_key"), NO_CHOICE.label("choice"), func.count().label("people"), unprompted
    )
    everybody = func.count(Response.number.distinct()).label("people")
    questions = select(*labelled, Answer.question_key, NO_CHOICE.label("choice"), everybody, _NONE.label("unprompted"))
    choices = select(
        *labelled, Answer.question_key, Answer.choice, func.count().label("people"), _NONE.label("unprompted")
    )
    answered = and_(Answer.number == Response.number, which)
    return (
        responses.where(which).group_by(*keys),
        questions.where(answered).group_by(*keys, Answer.question_key),
        choices.where(answered, Answer.choice != NO_CHOICE).group_by(*keys, Answer.question_key, Answer.choice),
    )


def change_rows(which: ColumnElement[bool]) -> tuple[Select[*tuple[Any, ...]], ...]:
    """Changes of responses counted as `COLUMNS`, one less here and one more there: whole responses, then people per
    question, then people per choice."""
    keys = (Response.survey_id, Response.version, _DAY, SIDE.c.outcome)
    labelled = (Response.survey_id, Response.version, _DAY.label("day"), SIDE.c.outcome)
    people, unprompted = func.sum(_SIGN), func.coalesce(func.sum(_SIGN).filter(~Response.prompted), 0)
    asked = select(Answer.question_key).distinct().where(Answer.number == Response.number).lateral("asked")
    nothing = NO_CHOICE.label("choice")
    whole = select(
        *labelled, WHOLE_KEY.label("question_key"), nothing, people.label("people"), unprompted.label("unprompted")
    )
    questions = select(*labelled, asked.c.question_key, nothing, people.label("people"), _NONE.label("unprompted"))
    choices = select(*labelled, Answer.question_key, Answer.choice, people.label("people"), _NONE.label("unprompted"))
    chosen = and_(Answer.number == Response.number, Answer.choice != NO_CHOICE)
    both = join(LedgerChange, Response, LedgerChange.response_number == Response.number).join(SIDE, true())
    return (
        whole.select_from(both).where(which).group_by(*keys),
        questions.select_from(both.join(asked, true())).where(which).group_by(*keys, asked.c.question_key),
        choices.select_from(both.join(Answer, chosen)).where(which).group_by(*keys, Answer.question_key, Answer.choice),
    )


def impression_rows(which: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """First impressions counted as `COLUMNS`."""
    return (
        select(
            PromptState.survey_id,
            PromptState.version,
            _SHOWN_DAY.label("day"),
            ASKED_OUTCOME.label("outcome"),
            WHOLE_KEY.label("question_key"),
            NO_CHOICE.label("choice"),
            func.count().label("people"),
            _NONE.label("unprompted"),
        )
        .where(which)
        .group_by(PromptState.survey_id, PromptState.version, _SHOWN_DAY)
    )
