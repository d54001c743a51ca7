"""The versions that went out before it was noted to whom: of an answer to one of them, nobody can say that the app did not have it."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_unnoted_versions"
down_revision = "2026_11_23_handed_out"


def upgrade() -> None:
    op.add_column("surveys", sa.Column("unnoted_version", sa.BigInteger(), nullable=True))
    op.execute("UPDATE surveys SET unnoted_version = version WHERE published_at IS NOT NULL")
