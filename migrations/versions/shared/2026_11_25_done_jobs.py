"""Whether the same work succeeded since a job failed is one look into an index."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_done_jobs"
down_revision = "2026_11_25_backup_watch"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "jobs_done_keys",
        "jobs",
        ["workspace", "key", "id"],
        postgresql_where=sa.text("status = 'done'"),
        postgresql_concurrently=True,
    )
