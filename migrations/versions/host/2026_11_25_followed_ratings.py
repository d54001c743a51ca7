"""Ratings that changed since an instant are found by an index."""

from alembic import op

revision = "2026_11_25_followed_ratings"
down_revision = "2026_11_25_rating_changes"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        op.f("api_app_ratings_updated_at_idx"), "api_app_ratings", ["updated_at"], postgresql_concurrently=True
    )
