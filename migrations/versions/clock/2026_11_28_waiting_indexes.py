"""Weeks whose waiting punches were never counted, and punches that wait in a week, are found by indexes."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_waiting_indexes"
down_revision = "2026_11_28_waiting_counts"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "clock_person_counts_unknown",
        "clock_person_counts",
        ["week"],
        postgresql_where=sa.text("waiting IS NULL"),
        postgresql_concurrently=True,
    )
    op.create_index(
        "clock_transactions_waiting_days",
        "clock_transactions",
        ["local_date", "emp_code"],
        postgresql_where=sa.text(
            "gone_at_utc IS NULL AND settled_at_utc IS NULL AND (import_outcome IS NULL OR import_outcome = 'not_bound')"
        ),
        postgresql_concurrently=True,
    )
