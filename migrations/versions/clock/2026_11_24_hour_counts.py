"""The hours of the week and how late punches came are kept by day.
The rollup counts the days that there are, week by week."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_hour_counts"
down_revision = "2026_11_24_owner_changes"


def upgrade() -> None:
    op.create_table(
        "clock_hour_counts",
        sa.Column("local_date", sa.Date(), nullable=False),
        sa.Column("bucket", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("local_date", "bucket", name=op.f("clock_hour_counts_pkey")),
    )
