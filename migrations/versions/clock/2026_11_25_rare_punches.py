"""Punches of some people that were not imported, days with punches that are gone,
and runs by their state are found by indexes."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_rare_punches"
down_revision = "2026_11_25_codes_of_calls"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "clock_transactions_not_imported",
        "clock_transactions",
        ["emp_code", "import_outcome", "local_date"],
        postgresql_where=sa.text("import_outcome <> 'imported'"),
        postgresql_concurrently=True,
    )
    op.create_index(
        "clock_transaction_counts_gone",
        "clock_transaction_counts",
        ["local_date"],
        postgresql_where=sa.text("gone > 0"),
        postgresql_concurrently=True,
    )
    op.create_index(
        op.f("clock_sync_runs_status_id_idx"), "clock_sync_runs", ["status", "id"], postgresql_concurrently=True
    )
