"""A workspace where time alone opens no problem soon is not looked into every five minutes."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_sweep_times"
down_revision = "2026_11_28_removed_webhooks"


def upgrade() -> None:
    op.add_column("problem_sweeps", sa.Column("looked_at", sa.DateTime(timezone=True)))
    op.add_column("problem_sweeps", sa.Column("opens_at", sa.DateTime(timezone=True)))
