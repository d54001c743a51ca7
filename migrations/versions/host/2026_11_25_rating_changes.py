"""When a rating was last written, and when its comment was erased: what other programs follow goes by it."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_rating_changes"
down_revision = "2026_11_25_alerts"


def upgrade() -> None:
    op.add_column(
        "api_app_ratings",
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.add_column("api_app_ratings", sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True))
