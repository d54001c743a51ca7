"""Who settled a punch, when and why: it was only known that a record was kept. No punch goes.

Punches inside a record made by hand are judged again: that record settles them now. The index of waiting punches is
built again without those that are settled.
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_settled_punches"
down_revision = "2026_11_23_what_folds_repeat"

PUNCHES, COUNTS, WAITING = "clock_transactions", "clock_transaction_counts", "clock_transactions_waiting"
# The audit knows who it was; the mark did not.
_KEPT = """
WITH kept AS (
    UPDATE clock_transactions SET settled_at_utc = updated_at, settled_by = 'a person', updated_at = now()
    WHERE reviewed RETURNING local_date
)
INSERT INTO clock_stale_days (local_date) SELECT DISTINCT local_date FROM kept ON CONFLICT DO NOTHING
"""
INSIDE = """
UPDATE clock_transactions SET judge_at = clock_timestamp() WHERE id IN (
    SELECT p.id FROM attendance_records r
    JOIN clock_employee_bindings b ON b.host_employee_id = r.employee_id
    JOIN clock_transactions p ON p.emp_code = b.emp_code
     AND p.punched_at_utc BETWEEN r.clock_in AND coalesce(r.clock_out, r.clock_in)
    WHERE r.source = 'manual' AND r.deleted_at IS NULL AND p.host_attendance_id IS NULL
      AND p.import_outcome IN ('awaiting', 'only_one_punch', 'overlaps'))
"""


def upgrade() -> None:
    op.add_column(PUNCHES, sa.Column("settled_at_utc", sa.DateTime(timezone=True)))
    op.add_column(PUNCHES, sa.Column("settled_by", sa.Text()))
    op.add_column(PUNCHES, sa.Column("settled_note", sa.Text()))
    op.add_column(PUNCHES, sa.Column("covered_by_id", sa.BigInteger()))
    op.add_column(COUNTS, sa.Column("settled", sa.Integer(), server_default="0", nullable=False))
    op.execute(_KEPT)
    op.drop_column(PUNCHES, "reviewed")
    op.execute(INSIDE)
    op.create_index(
        "clock_transactions_settled",
        PUNCHES,
        ["local_date", "import_outcome"],
        postgresql_where=sa.text("settled_at_utc IS NOT NULL"),
    )
    op.drop_index(WAITING, PUNCHES)
    waits = sa.text(
        "gone_at_utc IS NULL AND settled_at_utc IS NULL AND (import_outcome IS NULL OR import_outcome = 'not_bound')"
    )
    op.create_index(WAITING, PUNCHES, ["emp_code"], postgresql_where=waits)
