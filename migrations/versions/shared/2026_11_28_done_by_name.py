"""When a kind of job of a workspace last succeeded is one look into an index."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_done_by_name"
down_revision = "2026_11_28_snoozed_problems"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "jobs_done_names",
        "jobs",
        ["workspace", "name", "finished_at"],
        postgresql_where=sa.text("status = 'done'"),
        postgresql_concurrently=True,
    )
