"""People's phone numbers go: nothing ever showed or sent them, and a number that was too long cost the whole person."""

from alembic import op

revision = "2026_11_22_no_mobile_numbers"
down_revision = "2026_11_22_weeks_of_people"


def upgrade() -> None:
    op.drop_column("clock_employees", "mobile")
