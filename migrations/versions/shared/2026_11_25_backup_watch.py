"""The address that backups call, and when they last did."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_backup_watch"
down_revision = "2026_11_25_renamed_at"


def upgrade() -> None:
    op.create_table(
        "backup_watch",
        sa.Column("id", sa.SmallInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("expected_hours", sa.SmallInteger(), server_default="26", nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_ping_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("expected_hours BETWEEN 1 AND 8784", name=op.f("backup_watch_hours_check")),
        sa.CheckConstraint("id = 1", name=op.f("backup_watch_one_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("backup_watch_pkey")),
    )
