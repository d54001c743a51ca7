"""The menu counts what the list of problems shows: those that are snoozed are left out until their snooze ends."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_28_snoozed_problems"
down_revision = "2026_11_25_sweep_jobs"


def upgrade() -> None:
    op.add_column("problem_counts", sa.Column("snoozed", postgresql.JSONB(), server_default="{}", nullable=False))
