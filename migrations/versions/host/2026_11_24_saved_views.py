"""Saved views: filters, order and page size of a list under a name, for one person or for all who see the list."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_saved_views"
down_revision = "2026_11_21_app_library"


def upgrade() -> None:
    op.create_table(
        "saved_views",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("list", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("shared", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("saved_views_pkey")),
    )
    op.create_index("saved_views_named", "saved_views", ["list", "user_id", sa.text("lower(name)")], unique=True)
