"""Keeps which punch a fold repeats, and tells a Retry that was answered from one that a person has just asked for.

What a fold of an older release repeats stays unknown until it is judged again, and is inferred until then.
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_what_folds_repeat"
down_revision = "2026_11_23_gone_punches"


def upgrade() -> None:
    op.add_column(
        "clock_transactions", sa.Column("lifted", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column("clock_transactions", sa.Column("repeats_id", sa.BigInteger(), nullable=True))
    # Until now one flag said both. Where the punch shows another word than the deletion, a judging had answered.
    op.execute(
        """
        UPDATE clock_transactions SET lifted = true, retry = false
        WHERE retry AND import_outcome NOT IN ('attendance_deleted', 'future_timestamp', 'access_terminal', 'not_bound',
            'employee_inactive', 'no_direction')
        """
    )
