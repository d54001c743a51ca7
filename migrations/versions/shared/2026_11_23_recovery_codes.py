"""Hashes of the codes that stand for the authenticator app, each once.
Who has a second factor already makes them in Account."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_recovery_codes"
down_revision = "2026_11_23_token_makers"


def upgrade() -> None:
    op.add_column("users", sa.Column("recovery_codes", sa.ARRAY(sa.Text()), nullable=False, server_default="{}"))
