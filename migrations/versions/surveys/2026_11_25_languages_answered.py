"""In which language a person was asked what they answered (null where the survey had one language),
and figures by that."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_languages_answered"
down_revision = "2026_11_25_opted_out"

SPLITS = "survey_splits"


def upgrade() -> None:
    op.add_column("survey_responses", sa.Column("language", sa.Text(), nullable=True))
    op.drop_constraint(op.f("survey_splits_split_check"), SPLITS, type_="check")
    op.create_check_constraint(
        op.f("survey_splits_split_check"), SPLITS, "split IN ('type', 'tenant', 'department', 'language')"
    )
