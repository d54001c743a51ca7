"""Calls that failed with a code are found by it."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_codes_of_calls"
down_revision = "2026_11_25_kinds_of_acts"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "clock_api_logs_code",
        "clock_api_logs",
        ["tc_code", "at", "id"],
        postgresql_where=sa.text("tc_code IS NOT NULL"),
        postgresql_concurrently=True,
    )
