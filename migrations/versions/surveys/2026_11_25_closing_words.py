"""What the author of a survey says after an answer: nothing, in every survey that is there."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_closing_words"
down_revision = "2026_11_24_people"


def upgrade() -> None:
    op.add_column("surveys", sa.Column("closing_html", sa.Text(), server_default="", nullable=False))
