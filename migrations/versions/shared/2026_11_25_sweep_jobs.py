"""Sweeps for problems that are over are found without all the other jobs, which are kept far longer."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_sweep_jobs"
down_revision = "2026_11_25_done_jobs"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "jobs_sweeps",
        "jobs",
        ["finished_at"],
        postgresql_where=sa.text("name = 'problems_sweep'"),
        postgresql_concurrently=True,
    )
