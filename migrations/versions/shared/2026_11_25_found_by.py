"""Accounts are searched in an index that has all that a search looks at. It takes the place of the one by name."""

from alembic import op

revision = "2026_11_25_found_by"
down_revision = "2026_11_24_recovery_id"


def upgrade() -> None:
    op.create_index("users_found_by", "users", ["workspace", "name", "id"], postgresql_include=["email", "active"])
    op.drop_index(op.f("users_workspace_name_id_idx"), "users")
