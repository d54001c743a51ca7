"""When the schedule next asks each workspace what has become due there. A workspace without a row is asked at once."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_workspace_looks"
down_revision = "2026_11_24_clock_sign_ins"


def upgrade() -> None:
    op.create_table(
        "workspace_looks",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("workspace", name=op.f("workspace_looks_pkey")),
    )
    op.create_index(op.f("workspace_looks_next_at_idx"), "workspace_looks", ["next_at"], unique=False)
