"""Records that are not deleted are counted from an index alone."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_live_records"
down_revision = "2026_11_24_saved_views"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "attendance_records_live",
        "attendance_records",
        ["workday", "id"],
        postgresql_where=sa.text("deleted_at IS NULL"),
        postgresql_concurrently=True,
    )
