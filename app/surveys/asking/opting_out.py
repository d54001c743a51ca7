"""An opt-out of one round of a repeating survey holds for all later rounds; here as parts of other statements."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, case, exists, false, func, text

from app.surveys.models import Response

# Used in place of an outcome: the person said nothing to this round, and opted out of an earlier one.
OF_ROUNDS = "opted_out_of_rounds"
_before = Response.__table__.alias("opted_out")


def opted_out(survey: FromClause, person: ColumnElement[Any]) -> ColumnElement[bool]:
    """True when the person opted out of an earlier round. The CASE promises that a survey without rounds costs no look
    into the ledger."""
    earlier = exists().where(
        _before.c.survey_id == survey.c.id,
        _before.c.user_id == person,
        _before.c.outcome == text("'opted_out'"),
        _before.c.version >= survey.c.rounds_from,
        _before.c.version < survey.c.version,
    )
    return case((survey.c.rounds_from.is_(None), false()), else_=earlier)


def outcome(survey: FromClause, row: FromClause, person: ColumnElement[Any]) -> ColumnElement[Any]:
    """The outcome of `row`, the response to this version; otherwise OF_ROUNDS, or null."""
    held = case((opted_out(survey, person), text(f"'{OF_ROUNDS}'")))
    return func.coalesce(row.c.outcome, held).label("outcome")


def at_all(survey: FromClause, row: FromClause, person: ColumnElement[Any]) -> ColumnElement[bool]:
    """True when there is nothing left to ask: the person responded to this version, or opted out of an earlier
    round."""
    mine = and_(row.c.survey_id == survey.c.id, row.c.version == survey.c.version, row.c.user_id == person)
    return exists().where(mine) | opted_out(survey, person)
