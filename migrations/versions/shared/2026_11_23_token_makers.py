"""Who made an API token. For existing tokens it is not known."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_token_makers"
down_revision = "2026_11_23_ledger_notes"


def upgrade() -> None:
    op.add_column("api_tokens", sa.Column("made_by_id", sa.BigInteger(), nullable=True))
    op.add_column("api_tokens", sa.Column("made_by", sa.Text(), nullable=True))
