"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_21_first_tables"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "day_locks",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("locked_by", sa.Text(), nullable=False),
        sa.Column("locked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("day_locks_pkey")),
    )
    op.create_table(
        "employees",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("id_number", sa.Text(), nullable=False),
        sa.Column("id_number_key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("department", sa.Text(), nullable=True),
        sa.Column("position", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("employees_pkey")),
    )
    op.create_index(op.f("employees_id_number_key_idx"), "employees", ["id_number_key"], unique=False)
    op.create_index(op.f("employees_name_id_idx"), "employees", ["name", "id"], unique=False)
    op.create_index(op.f("employees_user_id_idx"), "employees", ["user_id"], unique=False)
    op.create_table(
        "attendance_records",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("employee_id", sa.BigInteger(), nullable=False),
        sa.Column("workday", sa.Date(), nullable=False),
        sa.Column("kind", sa.Text(), server_default="regular", nullable=False),
        sa.Column("clock_in", sa.DateTime(timezone=True), nullable=False),
        sa.Column("clock_out", sa.DateTime(timezone=True), nullable=True),
        sa.Column("breaks", postgresql.ARRAY(postgresql.TSTZRANGE()), server_default="{}", nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("edited_by", sa.Text(), nullable=True),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("edited_from", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_by", sa.Text(), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('regular', 'overtime')", name=op.f("attendance_records_kind_check")),
        sa.CheckConstraint("source IN ('clock', 'manual')", name=op.f("attendance_records_source_check")),
        sa.CheckConstraint(
            "status IN ('pending', 'approved', 'rejected', 'auto_closed')", name=op.f("attendance_records_status_check")
        ),
        sa.CheckConstraint("clock_out > clock_in", name=op.f("attendance_records_order_check")),
        sa.ForeignKeyConstraint(["employee_id"], ["employees.id"], name=op.f("attendance_records_employee_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("attendance_records_pkey")),
    )
    op.create_index(
        op.f("attendance_records_employee_id_clock_in_idx"),
        "attendance_records",
        ["employee_id", "clock_in"],
        unique=False,
    )
    op.create_index(op.f("attendance_records_workday_id_idx"), "attendance_records", ["workday", "id"], unique=False)
    op.create_table(
        "kiosk_enrolments",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("employee_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["employee_id"], ["employees.id"], name=op.f("kiosk_enrolments_employee_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("kiosk_enrolments_pkey")),
        sa.UniqueConstraint("code", name=op.f("kiosk_enrolments_code_key")),
    )
    op.create_index(op.f("kiosk_enrolments_employee_id_idx"), "kiosk_enrolments", ["employee_id"], unique=False)
