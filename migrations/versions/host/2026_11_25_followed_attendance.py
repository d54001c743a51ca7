"""What changed since an instant is found by an index: records, and people whose name stands in them."""

from alembic import op

revision = "2026_11_25_followed_attendance"
down_revision = "2026_11_25_day_lock_changes"
CONCURRENT = True


def upgrade() -> None:
    for table in ("attendance_records", "employees"):
        op.create_index(op.f(f"{table}_updated_at_idx"), table, ["updated_at"], postgresql_concurrently=True)
