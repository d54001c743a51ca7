"""Answers by groups of people, counted in the background where many responded."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_splits"
down_revision = "2026_11_25_counted_changes"


def upgrade() -> None:
    op.create_table(
        "survey_splits",
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("split", sa.Text(), nullable=False),
        sa.Column("figures", postgresql.JSONB(), nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("split IN ('type', 'tenant', 'department')", name=op.f("survey_splits_split_check")),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_splits_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("survey_id", "version", "split", name=op.f("survey_splits_pkey")),
    )
