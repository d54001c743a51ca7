"""Surveys in several languages: their own one, the texts of others, and which of these people were shown."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_languages"
down_revision = "2026_11_25_splits"


def upgrade() -> None:
    op.add_column("surveys", sa.Column("language", sa.Text(), server_default="en", nullable=False))
    op.add_column("surveys", sa.Column("translations", postgresql.JSONB(), nullable=True))
    op.add_column("survey_questions", sa.Column("translations", postgresql.JSONB(), nullable=True))
    op.create_table(
        "survey_languages_shown",
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("shown_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_languages_shown_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("survey_id", "version", "language", name=op.f("survey_languages_shown_pkey")),
    )
