"""Up to which ledger number the counts know what changed responses:
none yet, so that the next count takes all of them."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_counted_changes"
down_revision = "2026_11_25_question_details"


def upgrade() -> None:
    op.add_column("survey_tally_mark", sa.Column("changes_number", sa.BigInteger(), server_default="0", nullable=False))
