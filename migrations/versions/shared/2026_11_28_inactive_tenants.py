"""Workers leave the jobs of deactivated tenants waiting, and ask at each look which tenants those are."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_inactive_tenants"
down_revision = "2026_11_28_audit_days"


def upgrade() -> None:
    op.create_index("tenants_inactive", "tenants", ["key"], postgresql_where=sa.text("NOT active"))
