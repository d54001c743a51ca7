"""Acts of a person on many records or punches, carried out in slices: what was asked, and what became of each."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_long_acts"
down_revision = "2026_11_23_edited_punches"


def upgrade() -> None:
    op.create_table(
        "clock_long_acts",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("emp_codes", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("host_employee_id", sa.BigInteger(), nullable=True),
        sa.Column("actor_id", sa.BigInteger(), nullable=True),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('take_back', 'move', 'use')", name=op.f("clock_long_acts_kind_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_long_acts_pkey")),
    )
    op.create_index("clock_long_acts_open", "clock_long_acts", ["id"], postgresql_where=sa.text("finished_at IS NULL"))
    op.create_index("clock_long_acts_codes", "clock_long_acts", ["emp_codes"], postgresql_using="gin")
    op.create_table(
        "clock_long_act_items",
        sa.Column("act_id", sa.BigInteger(), nullable=False),
        sa.Column("item_id", sa.BigInteger(), nullable=False),
        sa.Column("became", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["act_id"], ["clock_long_acts.id"], name=op.f("clock_long_act_items_act_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("act_id", "item_id", name=op.f("clock_long_act_items_pkey")),
    )
