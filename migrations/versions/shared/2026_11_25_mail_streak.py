"""How many attempts to send a mail failed in a row."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_mail_streak"
down_revision = "2026_11_25_problem_counts"


def upgrade() -> None:
    op.create_table(
        "mail_streak",
        sa.Column("id", sa.BigInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("told", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("mail_streak_one_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("mail_streak_pkey")),
    )
