"""Who opted out of a survey is found at once: an opt-out holds for all later rounds of a survey that repeats."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_opted_out"
down_revision = "2026_11_25_rounds"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "survey_responses_opted_out",
        "survey_responses",
        ["survey_id", "user_id"],
        postgresql_where=sa.text("outcome = 'opted_out'"),
        postgresql_concurrently=True,
    )
