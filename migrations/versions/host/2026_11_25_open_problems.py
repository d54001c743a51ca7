"""Open problems in the order of their ids are found without the closed ones between them."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_open_problems"
down_revision = "2026_11_25_followed_ratings"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "problems_open_ids",
        "problems",
        ["id"],
        postgresql_where=sa.text("closed_at IS NULL"),
        postgresql_concurrently=True,
    )
