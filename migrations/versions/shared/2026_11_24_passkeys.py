"""Passkeys beside the authenticator app, and the challenges that browsers are asked to sign."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_passkeys"
down_revision = "2026_11_24_audit_tokens"


def upgrade() -> None:
    op.create_table(
        "passkeys",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("transports", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("passkeys_user_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("passkeys_pkey")),
        sa.UniqueConstraint("user_id", "name", name=op.f("passkeys_user_id_name_key")),
        sa.UniqueConstraint("credential_id", name=op.f("passkeys_credential_id_key")),
    )
    op.create_table(
        "passkey_challenges",
        sa.Column("challenge", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("purpose IN ('add', 'sign_in')", name=op.f("passkey_challenges_purpose_check")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("passkey_challenges_user_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("challenge", name=op.f("passkey_challenges_pkey")),
    )
    op.create_index(op.f("passkey_challenges_user_id_idx"), "passkey_challenges", ["user_id"], unique=False)
