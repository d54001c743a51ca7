"""Details of questions (ends, bounds, rows, pages, conditions), four more types of questions,
and what an app must show for a survey."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_question_details"
down_revision = "2026_11_25_changes"

QUESTIONS = "survey_questions"
TYPES = (
    "type IN ('agreement', 'star_rating', 'scale', 'single_choice', 'multiple_choice', 'free_text',"
    " 'nps', 'number', 'date', 'matrix')"
)


def upgrade() -> None:
    op.add_column(QUESTIONS, sa.Column("details", postgresql.JSONB(), nullable=True))
    op.add_column("surveys", sa.Column("needs", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False))
    op.drop_constraint(op.f("survey_questions_type_check"), QUESTIONS, type_="check")
    op.create_check_constraint(op.f("survey_questions_type_check"), QUESTIONS, TYPES)
