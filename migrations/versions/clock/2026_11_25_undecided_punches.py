"""Punches that wait for a person's decision are found by an index of their own:
every sweep for problems asks for them."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_undecided_punches"
down_revision = "2026_11_25_rare_punches"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "clock_transactions_undecided",
        "clock_transactions",
        ["import_outcome", "local_date", "emp_code"],
        postgresql_include=["punched_at_utc", "terminal_sn", "id"],
        postgresql_where=sa.text(
            "settled_at_utc IS NULL AND gone_at_utc IS NULL AND import_outcome IN ('only_one_punch', 'overlaps',"
            " 'arrived_late', 'over_24h', 'future_timestamp', 'employee_inactive', 'attendance_deleted', 'no_direction')"
        ),
        postgresql_concurrently=True,
    )
