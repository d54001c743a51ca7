"""Entries of the audit by their act, and jobs by state and kind, are found without reading the others."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_rare_acts"
down_revision = "2026_11_25_languages"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        op.f("audit_entries_workspace_act_id_idx"),
        "audit_entries",
        ["workspace", "act", "id"],
        postgresql_concurrently=True,
    )
    op.create_index(
        op.f("jobs_workspace_name_id_idx"), "jobs", ["workspace", "name", "id"], postgresql_concurrently=True
    )
    op.create_index(
        "jobs_failed",
        "jobs",
        ["workspace", "id"],
        postgresql_where=sa.text("status = 'failed'"),
        postgresql_concurrently=True,
    )
    op.create_index(
        "jobs_over",
        "jobs",
        ["finished_at"],
        postgresql_where=sa.text("status IN ('done', 'failed')"),
        postgresql_concurrently=True,
    )
