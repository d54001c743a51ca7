"""The tallies of some questions of a version are found without those of its other questions."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_tallies_by_question"
down_revision = "2026_11_28_numbers"
CONCURRENT = True
COLUMNS = ["survey_id", "version", "question_key", "day", "outcome"]


def upgrade() -> None:
    op.create_index("survey_tallies_questions", "survey_tallies", COLUMNS, postgresql_concurrently=True)
    op.create_index(
        "survey_tallies_answered",
        "survey_tallies",
        COLUMNS,
        postgresql_include=["people"],
        postgresql_where=sa.text("choice = '' AND question_key <> '00000000-0000-0000-0000-000000000000'::uuid"),
        postgresql_concurrently=True,
    )
