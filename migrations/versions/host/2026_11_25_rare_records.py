"""Records that people look for are few, and an index finds them."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_rare_records"
down_revision = "2026_11_25_live_records"
CONCURRENT = True
RARE = (
    ("status", ["status", "workday", "id"], "status <> 'approved'"),
    ("source", ["workday", "id"], "source <> 'clock'"),
    ("kind", ["workday", "id"], "kind <> 'regular'"),
    ("open", ["workday", "id"], "clock_out IS NULL"),
    ("edited", ["workday", "id"], "edited_at IS NOT NULL"),
    ("noted", ["workday", "id"], "note IS NOT NULL"),
)


def upgrade() -> None:
    for name, columns, condition in RARE:
        op.create_index(
            f"attendance_records_{name}",
            "attendance_records",
            columns,
            postgresql_where=sa.text(f"deleted_at IS NULL AND {condition}"),
            postgresql_concurrently=True,
        )
