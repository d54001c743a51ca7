"""Responses in a language are found by it; those of surveys with one language are not in this index."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_responses_by_language"
down_revision = "2026_11_25_languages_answered"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "survey_responses_language",
        "survey_responses",
        ["language", "recorded_at", "number"],
        postgresql_where=sa.text("language IS NOT NULL"),
        postgresql_concurrently=True,
    )
