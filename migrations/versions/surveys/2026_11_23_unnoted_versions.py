"""The versions that went out before their recipients were noted: for an answer to one of them, it is unknown whether
the app had it."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_unnoted_versions"
down_revision = "2026_11_23_handed_out"


def upgrade() -> None:
    op.add_column("surveys", sa.Column("unnoted_version", sa.BigInteger(), nullable=True))
    op.execute("UPDATE surveys SET unnoted_version = version WHERE published_at IS NOT NULL")
