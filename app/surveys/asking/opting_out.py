"""An opt-out of one round of a survey that repeats holds for all later ones, as parts of other statements."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, case, exists, false, func, text

from app.surveys.models import Response

# In the place of an outcome: they said nothing to this round, and opted out of one before it.
OF_ROUNDS = "opted_out_of_rounds"
_before = Response.__table__.alias("opted_out")


def opted_out(survey: FromClause, person: ColumnElement[Any]) -> ColumnElement[bool]:
    """True when they opted out of an earlier round. A survey without rounds costs no look into the ledger: CASE alone promises that."""
    earlier = exists().where(
        _before.c.survey_id == survey.c.id,
        _before.c.user_id == person,
        _before.c.outcome == text("'opted_out'"),
        _before.c.version >= survey.c.rounds_from,
        _before.c.version < survey.c.version,
    )
    return case((survey.c.rounds_from.is_(None), false()), else_=earlier)


def outcome(survey: FromClause, row: FromClause, person: ColumnElement[Any]) -> ColumnElement[Any]:
    """That of `row`, the response to this version; else OF_ROUNDS, or null."""
    held = case((opted_out(survey, person), text(f"'{OF_ROUNDS}'")))
    return func.coalesce(row.c.outcome, held).label("outcome")


def at_all(survey: FromClause, row: FromClause, person: ColumnElement[Any]) -> ColumnElement[bool]:
    """True when nothing is left to ask them: they responded to this version, or opted out of an earlier round."""
    mine = and_(row.c.survey_id == survey.c.id, row.c.version == survey.c.version, row.c.user_id == person)
    return exists().where(mine) | opted_out(survey, person)
