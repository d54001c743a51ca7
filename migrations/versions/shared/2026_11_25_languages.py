"""The language in which a person wants to be asked; null is what their browser says."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_languages"
down_revision = "2026_11_25_carried_answers"


def upgrade() -> None:
    op.add_column("users", sa.Column("language", sa.Text(), nullable=True))
