"""The app library and its ratings."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_21_app_library"
down_revision = "2026_11_21_first_tables"


def upgrade() -> None:
    op.create_table(
        "applications",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("uid", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("platforms", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("icon", sa.LargeBinary(), nullable=True),
        sa.Column("icon_type", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), server_default="draft", nullable=False),
        sa.Column("admin_restricted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("demo", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("platforms <@ ARRAY['ios', 'android', 'web']", name=op.f("applications_platforms_check")),
        sa.CheckConstraint("status IN ('draft', 'published', 'retired')", name=op.f("applications_status_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("applications_pkey")),
        sa.UniqueConstraint("uid", name=op.f("applications_uid_key")),
    )
    op.create_index(
        "applications_name",
        "applications",
        [sa.literal_column("lower(name)")],
        unique=True,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "api_app_ratings",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("application_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("rating", sa.SmallInteger(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("app_version", sa.Text(), nullable=True),
        sa.Column("rated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("rated_on", sa.Date(), nullable=False),
        sa.Column("demo", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("platform IN ('ios', 'android', 'web')", name=op.f("api_app_ratings_platform_check")),
        sa.CheckConstraint("rating BETWEEN 1 AND 5", name=op.f("api_app_ratings_rating_check")),
        sa.ForeignKeyConstraint(
            ["application_id"], ["applications.id"], name=op.f("api_app_ratings_application_id_fkey")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("api_app_ratings_pkey")),
    )
    op.create_index(
        "api_app_ratings_one_a_day",
        "api_app_ratings",
        ["application_id", "user_id", "rated_on"],
        unique=True,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(
        op.f("api_app_ratings_application_id_rated_at_id_idx"),
        "api_app_ratings",
        ["application_id", "rated_at", "id"],
        unique=False,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(
        op.f("api_app_ratings_rated_at_id_idx"),
        "api_app_ratings",
        ["rated_at", "id"],
        unique=False,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(
        op.f("api_app_ratings_rating_rated_at_id_idx"),
        "api_app_ratings",
        ["rating", "rated_at", "id"],
        unique=False,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(
        op.f("api_app_ratings_rating_id_idx"),
        "api_app_ratings",
        ["rating", "id"],
        unique=False,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(op.f("api_app_ratings_user_id_idx"), "api_app_ratings", ["user_id"], unique=False)
    op.create_table(
        "app_rating_counts",
        sa.Column("application_id", sa.BigInteger(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("rating", sa.SmallInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("latest", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["applications.id"],
            name=op.f("app_rating_counts_application_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("application_id", "platform", "rating", name=op.f("app_rating_counts_pkey")),
    )
