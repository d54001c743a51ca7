"""When a row of the ledger was written, by the clock of the database: what other programs follow goes by it.

Rows that are there have the instant of this step.
`recorded_at` is what the entry says, by the clock of the process that heard the answer.
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_stored_at"
down_revision = "2026_11_25_responses_by_language"


def upgrade() -> None:
    for table in ("survey_responses", "survey_changes"):
        op.add_column(
            table, sa.Column("stored_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)
        )
