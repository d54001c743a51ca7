"""Numbers that people gave, counted in the background where very many are different."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_28_numbers"
down_revision = "2026_11_25_followed_responses"


def upgrade() -> None:
    op.create_table(
        "survey_numbers",
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("question_key", sa.Uuid(), nullable=False),
        sa.Column("people", sa.BigInteger(), nullable=False),
        sa.Column("mean", sa.Numeric(), nullable=False),
        sa.Column("median", sa.Numeric(), nullable=False),
        sa.Column("lowest", sa.Numeric(), nullable=False),
        sa.Column("highest", sa.Numeric(), nullable=False),
        sa.Column("ranges", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("is_whole", sa.Boolean(), nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_numbers_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("survey_id", "version", "question_key", name=op.f("survey_numbers_pkey")),
    )
