"""When the name of a mirrored person last changed: their punches show it,
and those who follow the punches must see the change."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_names_of_people"
down_revision = "2026_11_23_what_the_server_says"


def upgrade() -> None:
    op.add_column("clock_employees", sa.Column("named_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        "clock_employees_named",
        "clock_employees",
        ["named_at"],
        unique=False,
        postgresql_where=sa.text("named_at IS NOT NULL"),
    )
