"""A webhook that was removed is gone for everybody at once; a job deletes its events and then itself, in slices."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_removed_webhooks"
down_revision = "2026_11_28_problem_harm"


def upgrade() -> None:
    op.add_column("webhook_endpoints", sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True))
