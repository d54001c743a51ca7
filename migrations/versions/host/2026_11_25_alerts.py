"""Who still has to be told of which problem by mail."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_alerts"
down_revision = "2026_11_25_webhooks"


def upgrade() -> None:
    op.create_table(
        "alert_news",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("opened", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("closed", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("quiet", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("alert_news_pkey")),
    )
    op.create_table(
        "alerts",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("problem_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('waiting', 'told', 'closing', 'over')", name=op.f("alerts_state_check")),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("alerts_problem_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "problem_id", name=op.f("alerts_pkey")),
    )
    op.create_index("alerts_due", "alerts", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL"))
    op.create_index(op.f("alerts_problem_id_idx"), "alerts", ["problem_id"])
