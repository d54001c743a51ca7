"""Numbers that were counted in the background say which few differ, and how many people gave any answer.

Rows from before have 0 in `answered`, so they are counted again when somebody asks for them.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_28_few_numbers"
down_revision = "2026_11_28_tallies_by_question"


def upgrade() -> None:
    choices = sa.Column("choices", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False)
    op.add_column("survey_numbers", choices)
    op.add_column("survey_numbers", sa.Column("answered", sa.BigInteger(), server_default="0", nullable=False))
