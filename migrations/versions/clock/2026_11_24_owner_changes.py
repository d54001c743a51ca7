"""Codes with very many punches that changed their owner, or whose owner did: the punches are marked slice by slice."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_owner_changes"
down_revision = "2026_11_24_zone_changes"


def upgrade() -> None:
    op.create_table(
        "clock_owner_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("reached_place", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("reached_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reached_id", sa.BigInteger(), nullable=True),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("marked", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_owner_changes_pkey")),
    )
    op.create_index(
        "clock_owner_changes_open", "clock_owner_changes", ["id"], postgresql_where=sa.text("finished_at IS NULL")
    )
    op.create_table(
        "clock_owner_change_codes",
        sa.Column("change_id", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("emp_code", sa.Text(), nullable=False),
        sa.Column("host_employee_id", sa.BigInteger(), nullable=True),
        sa.Column("moved", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["change_id"],
            ["clock_owner_changes.id"],
            name=op.f("clock_owner_change_codes_change_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("change_id", "place", name=op.f("clock_owner_change_codes_pkey")),
    )
    op.create_index(op.f("clock_owner_change_codes_emp_code_idx"), "clock_owner_change_codes", ["emp_code"])
