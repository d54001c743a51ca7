"""The entries of some days are found in their order."""

from alembic import op

revision = "2026_11_28_audit_days"
down_revision = "2026_11_28_done_by_name"
CONCURRENT = True


def upgrade() -> None:
    columns = ["workspace", "at", "id"]
    op.create_index(op.f("audit_entries_workspace_at_id_idx"), "audit_entries", columns, postgresql_concurrently=True)
    op.drop_index(op.f("audit_entries_workspace_at_idx"), "audit_entries", postgresql_concurrently=True)
