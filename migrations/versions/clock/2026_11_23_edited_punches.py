"""What the server changed of a punch is kept, and an edited punch remembers the record that it left.
No row is rewritten."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "2026_11_23_edited_punches"
down_revision = "2026_11_23_taken_candidates"

PUNCHES, CHANGES = "clock_transactions", "clock_punch_changes"


def upgrade() -> None:
    op.add_column(PUNCHES, sa.Column("edited_record_id", sa.BigInteger()))
    op.add_column(PUNCHES, sa.Column("edited_from_utc", sa.DateTime(timezone=True)))
    op.create_index(
        op.f("clock_transactions_edited"),
        PUNCHES,
        ["edited_record_id"],
        postgresql_where=sa.text("edited_record_id IS NOT NULL"),
    )
    op.create_table(
        CHANGES,
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("punch_id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("before", JSONB(), nullable=False),
        sa.Column("after", JSONB(), nullable=False),
        sa.Column("record_id", sa.BigInteger()),
        sa.ForeignKeyConstraint(
            ["punch_id"],
            [f"{PUNCHES}.id"],
            name=op.f("clock_punch_changes_punch_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_punch_changes_pkey")),
    )
    op.create_index(op.f("clock_punch_changes_punch_id_id_idx"), CHANGES, ["punch_id", "id"], unique=False)
