"""What somebody wrote when their session had ended, sealed, in the session with which they came back."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_carried_answers"
down_revision = "2026_11_25_found_by"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("carried", sa.Text(), nullable=True))
