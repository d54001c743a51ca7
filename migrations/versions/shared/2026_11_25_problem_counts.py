"""How many problems of each kind are open in each workspace."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_problem_counts"
down_revision = "2026_11_25_alert_settings"


def upgrade() -> None:
    op.create_table(
        "problem_counts",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("open", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "kind", name=op.f("problem_counts_pkey")),
    )
