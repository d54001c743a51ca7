"""Changes of the time zone whose punches are rewritten slice by slice, and by which zone the times of a punch are."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_zone_changes"
down_revision = "2026_11_24_first_test"


def upgrade() -> None:
    op.create_table(
        "clock_zone_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("old_zone", sa.Text(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("kept", sa.Text(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("reached_day", sa.Date(), nullable=True),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("rewritten", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kept IN ('local_times', 'instants')", name=op.f("clock_zone_changes_kept_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_zone_changes_pkey")),
    )
    op.create_index(
        "clock_zone_changes_open", "clock_zone_changes", ["id"], postgresql_where=sa.text("finished_at IS NULL")
    )
    # A constant default: no row is rewritten.
    for table in ("clock_connections", "clock_transactions"):
        op.add_column(table, sa.Column("zone_generation", sa.Integer(), server_default=sa.text("1"), nullable=False))
