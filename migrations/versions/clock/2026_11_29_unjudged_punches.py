"""Punches that are not judged yet are counted, and read in order, from an index."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_29_unjudged_punches"
down_revision = "2026_11_28_outcomes_only"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "clock_transactions_unjudged",
        "clock_transactions",
        ["local_date", "punched_at_utc", "id"],
        postgresql_where=sa.text("import_outcome IS NULL"),
        postgresql_concurrently=True,
    )
