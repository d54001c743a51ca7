"""Punches that are not judged yet stay out of the index of outcomes: a first sync writes millions of them."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_outcome_index"
down_revision = "2026_11_21_first_tables"


def upgrade() -> None:
    op.drop_index(op.f("clock_transactions_import_outcome_local_date_punched_at_d30f"), table_name="clock_transactions")
    op.create_index(
        "clock_transactions_outcome",
        "clock_transactions",
        ["import_outcome", "local_date", "punched_at_utc", "id"],
        unique=False,
        postgresql_where=sa.text("import_outcome IS NOT NULL"),
    )
