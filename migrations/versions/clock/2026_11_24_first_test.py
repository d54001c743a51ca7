"""A connection that was saved on the page is tested before its first run. What was saved before runs as it did."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_first_test"
down_revision = "2026_11_24_rejudgings"


def upgrade() -> None:
    op.add_column(
        "clock_connections", sa.Column("awaits_test", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
