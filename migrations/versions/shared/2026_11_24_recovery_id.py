"""The id that recovery codes were hashed with, for accounts that come from another installation
and have a new id here."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_recovery_id"
down_revision = "2026_11_24_workspace_looks"


def upgrade() -> None:
    op.add_column("users", sa.Column("recovery_id", sa.BigInteger(), nullable=True))
