"""Long acts are of any kind. The check only named the clock's: no version needs it."""

from alembic import op

revision = "2026_11_25_kinds_of_acts"
down_revision = "2026_11_25_acts_over_lists"
# Every program that knows the table works without the check, which only refused rows.
CONTRACTS = "2026_11_23_long_acts"


def upgrade() -> None:
    op.drop_constraint(op.f("clock_long_acts_kind_check"), "clock_long_acts")
