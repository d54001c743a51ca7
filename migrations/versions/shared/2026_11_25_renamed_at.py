"""When an account last got another name: who follows responses learns it."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_renamed_at"
down_revision = "2026_11_25_mail_streak"


def upgrade() -> None:
    op.add_column("users", sa.Column("renamed_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("users_renamed", "users", ["renamed_at"], postgresql_where=sa.text("renamed_at IS NOT NULL"))
