"""A job whose database server left is given back without the loss of an attempt: `uncounted` says how many there
were."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_29_uncounted_attempts"
down_revision = "2026_11_28_inactive_tenants"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("uncounted", sa.Integer(), server_default="0", nullable=False))
