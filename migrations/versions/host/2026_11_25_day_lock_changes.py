"""When a day was last locked or opened, for programs that follow attendance."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_day_lock_changes"
down_revision = "2026_11_25_rare_records"


def upgrade() -> None:
    op.create_table(
        "day_lock_changes",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("day_lock_changes_pkey")),
    )
    op.create_index(op.f("day_lock_changes_changed_at_idx"), "day_lock_changes", ["changed_at"])
    op.execute("INSERT INTO day_lock_changes (day, changed_at) SELECT day, locked_at FROM day_locks")
