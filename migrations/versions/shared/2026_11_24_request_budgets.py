"""What is left of each API token's requests a minute, for all processes. Unlogged: writing it waits for no disk."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_request_budgets"
down_revision = "2026_11_24_passkeys"


def upgrade() -> None:
    op.create_table(
        "request_budgets",
        sa.Column("token_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("remaining", sa.Float(), nullable=False),
        sa.Column("granted", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("token_id", name=op.f("request_budgets_pkey")),
        prefixes=["UNLOGGED"],
    )
