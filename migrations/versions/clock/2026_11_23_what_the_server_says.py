"""What the server says of a terminal's time zone, and of a single punch: that it does not count for attendance."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_what_the_server_says"
down_revision = "2026_11_23_long_acts"


def upgrade() -> None:
    op.add_column("clock_devices", sa.Column("terminal_tz", sa.Text(), nullable=True))
    op.add_column("clock_transactions", sa.Column("remote_attendance", sa.Boolean(), nullable=True))
