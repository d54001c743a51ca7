"""Punches that the server has no more are marked, counted apart, and asked about where they are many.
No punch is rewritten.

The index of waiting punches is built again without those that are gone.
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_gone_punches"
down_revision = "2026_11_23_names_of_people"

PUNCHES, MISSING, CURSORS = "clock_transactions", "clock_missing_punches", "clock_sync_cursors"
WAITING = "clock_transactions_waiting"


def upgrade() -> None:
    op.add_column(PUNCHES, sa.Column("gone_at_utc", sa.DateTime(timezone=True)))
    gone = sa.text("gone_at_utc IS NOT NULL")
    op.create_index(op.f("clock_transactions_gone"), PUNCHES, ["local_date"], postgresql_where=gone)
    op.drop_index(WAITING, PUNCHES)
    waits = sa.text("gone_at_utc IS NULL AND (import_outcome IS NULL OR import_outcome = 'not_bound')")
    op.create_index(op.f(WAITING), PUNCHES, ["emp_code"], postgresql_where=waits)
    for table in ("clock_transaction_counts", "clock_analytics_daily"):
        op.add_column(table, sa.Column("gone", sa.Integer(), server_default="0", nullable=False))
    op.create_table(
        MISSING,
        sa.Column("punch_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("question", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["punch_id"], [f"{PUNCHES}.id"], name=op.f("clock_missing_punches_punch_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("punch_id", name=op.f("clock_missing_punches_pkey")),
    )
    op.create_index(op.f("clock_missing_punches_question_idx"), MISSING, ["question"], unique=False)
    op.drop_constraint(op.f("clock_sync_cursors_kind_check"), CURSORS, type_="check")
    op.create_check_constraint(
        op.f("clock_sync_cursors_kind_check"),
        CURSORS,
        "kind IN ('listing', 'live', 'check', 'backfill', 'asked', 'gone')",
    )
