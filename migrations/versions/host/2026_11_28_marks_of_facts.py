"""What the facts were when a look last found nothing to change: as long as they are, looks compare nothing."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_28_marks_of_facts"
down_revision = "2026_11_28_failed_calls"


def upgrade() -> None:
    op.add_column("problem_sweeps", sa.Column("marks", postgresql.JSONB(), nullable=True))
