"""When a survey first went out to a person behind another one, in an app's queue. For earlier deliveries it is not
known."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_handed_out"
down_revision = "2026_11_23_head_noted_by_owner"


def upgrade() -> None:
    op.add_column("survey_prompt_state", sa.Column("handed_out_at", sa.DateTime(timezone=True), nullable=True))
