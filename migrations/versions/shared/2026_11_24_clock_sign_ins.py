"""Sessions with time-clock servers, one for each account, whichever workspaces use it.

What a workspace holds is sealed for its own row. The program moves it when the workspace next asks its server.
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_clock_sign_ins"
down_revision = "2026_11_24_request_budgets"


def upgrade() -> None:
    op.create_table(
        "clock_sign_ins",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account", sa.LargeBinary(), nullable=False),
        sa.Column("tokens", sa.Text(), nullable=True),
        sa.Column("saved_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_sign_ins_pkey")),
        sa.UniqueConstraint("account", name=op.f("clock_sign_ins_account_key")),
    )
