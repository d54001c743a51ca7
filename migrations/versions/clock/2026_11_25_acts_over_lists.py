"""Acts over all that a list shows: the filter, how far they came, and that a person stopped them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_acts_over_lists"
down_revision = "2026_11_24_hour_counts"


def upgrade() -> None:
    for name in ("list_query", "last_key", "reached", "stopped_by", "problem"):
        op.add_column("clock_long_acts", sa.Column(name, sa.Text(), nullable=True))
    op.add_column("clock_long_acts", sa.Column("total", sa.BigInteger(), nullable=True))
    for name in ("arguments", "counts"):
        op.add_column(
            "clock_long_acts", sa.Column(name, postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False)
        )
    op.add_column(
        "clock_long_acts", sa.Column("stop_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
