"""People with a similar name whom another code has are kept beside the candidates:
they are shown, and never suggested."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_23_taken_candidates"
down_revision = "2026_11_22_no_mobile_numbers"


def upgrade() -> None:
    op.add_column(
        "clock_employee_bindings", sa.Column("taken", postgresql.JSONB(), server_default="[]", nullable=False)
    )
