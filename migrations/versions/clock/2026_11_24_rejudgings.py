"""Changes of rules and terminals whose punches are judged again slice by slice,
and the index that finds what they concern."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_rejudgings"
down_revision = "2026_11_23_settled_punches"


def upgrade() -> None:
    op.create_table(
        "clock_rejudgings",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("terminal_sn", sa.Text(), nullable=True),
        sa.Column("begun_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("reached_day", sa.Date(), nullable=True),
        sa.Column("reached_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reached_id", sa.BigInteger(), nullable=True),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("marked", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("judged", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_rejudgings_pkey")),
    )
    op.create_index(
        "clock_rejudgings_open", "clock_rejudgings", ["id"], postgresql_where=sa.text("finished_at IS NULL")
    )
    op.create_index(
        "clock_transactions_unsettled",
        "clock_transactions",
        ["terminal_sn", "local_date", "punched_at_utc", "id"],
        postgresql_where=sa.text("host_attendance_id IS NULL AND import_outcome IS NOT NULL"),
    )
