"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_21_first_tables"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "clock_analytics_daily",
        sa.Column("local_date", sa.Date(), nullable=False),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), server_default="", nullable=False),
        sa.Column("total", sa.Integer(), server_default="0", nullable=False),
        sa.Column("check_in", sa.Integer(), server_default="0", nullable=False),
        sa.Column("check_out", sa.Integer(), server_default="0", nullable=False),
        sa.Column("break_out", sa.Integer(), server_default="0", nullable=False),
        sa.Column("break_in", sa.Integer(), server_default="0", nullable=False),
        sa.Column("overtime_in", sa.Integer(), server_default="0", nullable=False),
        sa.Column("overtime_out", sa.Integer(), server_default="0", nullable=False),
        sa.Column("unknown", sa.Integer(), server_default="0", nullable=False),
        sa.Column("employees", sa.Integer(), server_default="0", nullable=False),
        sa.Column("terminals", sa.Integer(), server_default="0", nullable=False),
        sa.Column("imported", sa.Integer(), server_default="0", nullable=False),
        sa.Column("frozen", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint(
            "dimension IN ('all', 'terminal', 'department', 'outcome')",
            name=op.f("clock_analytics_daily_dimension_check"),
        ),
        sa.PrimaryKeyConstraint("local_date", "dimension", "key", name=op.f("clock_analytics_daily_pkey")),
    )
    op.create_index(
        op.f("clock_analytics_daily_dimension_key_local_date_idx"),
        "clock_analytics_daily",
        ["dimension", "key", "local_date"],
        unique=False,
        postgresql_include=["total"],
    )
    op.create_table(
        "clock_api_logs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("body_code", sa.Text(), nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("tc_code", sa.Text(), nullable=True),
        sa.Column("excerpt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_api_logs_pkey")),
    )
    op.create_index(op.f("clock_api_logs_at_id_idx"), "clock_api_logs", ["at", "id"], unique=False)
    op.create_index(op.f("clock_api_logs_run_id_id_idx"), "clock_api_logs", ["run_id", "id"], unique=False)
    op.create_table(
        "clock_areas",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parent_code", sa.Text(), nullable=True),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("remarks", sa.Text(), nullable=True),
        sa.Column("seen", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("absent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_areas_pkey")),
        sa.UniqueConstraint("code", name=op.f("clock_areas_code_key")),
    )
    op.create_table(
        "clock_connections",
        sa.Column("id", sa.SmallInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("company", sa.Text(), nullable=True),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Text(), nullable=True),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("overrides", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("status", sa.Text(), server_default="unverified", nullable=False),
        sa.Column("credential_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("locked_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id_generation", sa.Integer(), server_default="1", nullable=False),
        sa.Column("last_success_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error_code", sa.Text(), nullable=True),
        sa.Column("last_error_message", sa.Text(), nullable=True),
        sa.Column("last_error_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "status IN ('unverified', 'healthy', 'failing', 'locked', 'paused')",
            name=op.f("clock_connections_status_check"),
        ),
        sa.CheckConstraint("id = 1", name=op.f("clock_connections_single_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_connections_pkey")),
    )
    op.create_table(
        "clock_departments",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parent_code", sa.Text(), nullable=True),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("remarks", sa.Text(), nullable=True),
        sa.Column("seen", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("absent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_departments_pkey")),
        sa.UniqueConstraint("code", name=op.f("clock_departments_code_key")),
    )
    op.create_table(
        "clock_devices",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("sn", sa.Text(), nullable=False),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("alias", sa.Text(), nullable=True),
        sa.Column("ip_address", sa.Text(), nullable=True),
        sa.Column("firmware", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), server_default="unknown", nullable=False),
        sa.Column("last_activity_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("area_code", sa.Text(), nullable=True),
        sa.Column("remote_attendance", sa.Boolean(), nullable=True),
        sa.Column("kind_mark", sa.Text(), nullable=True),
        sa.Column("direction", sa.Text(), nullable=True),
        sa.Column("user_count", sa.Integer(), nullable=True),
        sa.Column("fingerprint_count", sa.Integer(), nullable=True),
        sa.Column("face_count", sa.Integer(), nullable=True),
        sa.Column("palm_count", sa.Integer(), nullable=True),
        sa.Column("transaction_count", sa.BigInteger(), nullable=True),
        sa.Column("clock_skew_seconds", sa.BigInteger(), nullable=True),
        sa.Column("last_punch_at_utc", sa.DateTime(timezone=True), nullable=True),
        sa.Column("remarks", sa.Text(), nullable=True),
        sa.Column("seen", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("absent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "direction IN ('by_code', 'in', 'out', 'undirected')", name=op.f("clock_devices_direction_check")
        ),
        sa.CheckConstraint("kind_mark IN ('attendance', 'access')", name=op.f("clock_devices_kind_mark_check")),
        sa.CheckConstraint("state IN ('online', 'offline', 'unknown')", name=op.f("clock_devices_state_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_devices_pkey")),
        sa.UniqueConstraint("sn", name=op.f("clock_devices_sn_key")),
    )
    op.create_table(
        "clock_employees",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("emp_code", sa.Text(), nullable=False),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("first_name", sa.Text(), nullable=True),
        sa.Column("last_name", sa.Text(), nullable=True),
        sa.Column("full_name", sa.Text(), server_default="", nullable=False),
        sa.Column("department_code", sa.Text(), nullable=True),
        sa.Column("position_code", sa.Text(), nullable=True),
        sa.Column("area_codes", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("mobile", sa.Text(), nullable=True),
        sa.Column("hired_on", sa.Date(), nullable=True),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("has_fingerprint", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_face", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_palm", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_card", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_password", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("photo_ref", sa.Text(), nullable=True),
        sa.Column("remarks", sa.Text(), nullable=True),
        sa.Column("seen", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("absent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_employees_pkey")),
        sa.UniqueConstraint("emp_code", name=op.f("clock_employees_emp_code_key")),
    )
    op.create_index(op.f("clock_employees_updated_at_id_idx"), "clock_employees", ["updated_at", "id"], unique=False)
    op.create_table(
        "clock_locations",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parent_code", sa.Text(), nullable=True),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("remarks", sa.Text(), nullable=True),
        sa.Column("seen", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("absent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_locations_pkey")),
        sa.UniqueConstraint("code", name=op.f("clock_locations_code_key")),
    )
    op.create_table(
        "clock_positions",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parent_code", sa.Text(), nullable=True),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("remarks", sa.Text(), nullable=True),
        sa.Column("seen", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("absent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_positions_pkey")),
        sa.UniqueConstraint("code", name=op.f("clock_positions_code_key")),
    )
    op.create_table(
        "clock_set_aside",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_set_aside_pkey")),
    )
    op.create_index(op.f("clock_set_aside_run_id_idx"), "clock_set_aside", ["run_id"], unique=False)
    op.create_table(
        "clock_settings",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("clock_settings_pkey")),
    )
    op.create_table(
        "clock_stale_days",
        sa.Column("local_date", sa.Date(), nullable=False),
        sa.Column("marked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("local_date", name=op.f("clock_stale_days_pkey")),
    )
    op.create_table(
        "clock_sync_cursors",
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("window", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="open", nullable=False),
        sa.Column("starts_on", sa.Date(), nullable=True),
        sa.Column("ends_on", sa.Date(), nullable=True),
        sa.Column("done_until", sa.Date(), nullable=True),
        sa.Column("slice_until", sa.Date(), nullable=True),
        sa.Column("covered_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("emp_code", sa.Text(), nullable=True),
        sa.Column("generation", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("page", sa.Integer(), server_default="0", nullable=False),
        sa.Column("walks", sa.Integer(), server_default="0", nullable=False),
        sa.Column("rows_seen", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("last_page_digest", sa.LargeBinary(), nullable=True),
        sa.Column("digests", postgresql.ARRAY(sa.LargeBinary()), server_default="{}", nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("pending", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "kind IN ('listing', 'live', 'check', 'backfill', 'asked')", name=op.f("clock_sync_cursors_kind_check")
        ),
        sa.CheckConstraint("state IN ('open', 'complete', 'refused')", name=op.f("clock_sync_cursors_state_check")),
        sa.PrimaryKeyConstraint("resource", "window", name=op.f("clock_sync_cursors_pkey")),
    )
    op.create_index(
        op.f("clock_sync_cursors_resource_kind_starts_on_idx"),
        "clock_sync_cursors",
        ["resource", "kind", "starts_on"],
        unique=False,
    )
    op.create_table(
        "clock_sync_lease",
        sa.Column("id", sa.SmallInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("clock_sync_lease_single_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_sync_lease_pkey")),
    )
    op.create_table(
        "clock_sync_runs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("request", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=True),
        sa.Column("queued_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stop_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("calls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("resources", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("outcomes", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("progress", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("findings", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'succeeded', 'partial', 'truncated', 'failed')",
            name=op.f("clock_sync_runs_status_check"),
        ),
        sa.CheckConstraint(
            "trigger IN ('schedule', 'manual', 'resume', 'command')", name=op.f("clock_sync_runs_trigger_check")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_sync_runs_pkey")),
    )
    op.create_table(
        "clock_transaction_counts",
        sa.Column("local_date", sa.Date(), nullable=False),
        sa.Column("terminal_sn", sa.Text(), nullable=False),
        sa.Column("import_outcome", sa.Text(), nullable=False),
        sa.Column("punch_code", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "local_date", "terminal_sn", "import_outcome", "punch_code", name=op.f("clock_transaction_counts_pkey")
        ),
    )
    op.create_table(
        "clock_transactions",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("id_generation", sa.Integer(), nullable=False),
        sa.Column("remote_id", sa.Text(), nullable=False),
        sa.Column("emp_code", sa.Text(), nullable=False),
        sa.Column("terminal_sn", sa.Text(), nullable=True),
        sa.Column("terminal_alias", sa.Text(), nullable=True),
        sa.Column("punch_code", sa.Integer(), nullable=True),
        sa.Column("verify_code", sa.Integer(), nullable=True),
        sa.Column("punched_at_raw", sa.Text(), nullable=False),
        sa.Column("punched_at_local", sa.DateTime(), nullable=False),
        sa.Column("punched_at_utc", sa.DateTime(timezone=True), nullable=False),
        sa.Column("uploaded_at_utc", sa.DateTime(timezone=True), nullable=True),
        sa.Column("local_date", sa.Date(), nullable=False),
        sa.Column("temperature", sa.Numeric(precision=5, scale=2), nullable=True),
        sa.Column("photo_ref", sa.Text(), nullable=True),
        sa.Column("first_run_id", sa.BigInteger(), nullable=True),
        sa.Column("import_outcome", sa.Text(), nullable=True),
        sa.Column("imported_role", sa.Text(), nullable=True),
        sa.Column("host_attendance_id", sa.BigInteger(), nullable=True),
        sa.Column("imported_at_utc", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reviewed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("retry", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("judge_at", sa.DateTime(timezone=True), server_default=sa.text("'epoch'"), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_transactions_pkey")),
        sa.UniqueConstraint("id_generation", "remote_id", name=op.f("clock_transactions_id_generation_remote_id_key")),
        postgresql_with={"fillfactor": "85"},
    )
    op.create_index(
        op.f("clock_transactions_emp_code_punched_at_utc_id_idx"),
        "clock_transactions",
        ["emp_code", "punched_at_utc", "id"],
        unique=False,
        postgresql_include=["local_date"],
    )
    op.create_index(
        op.f("clock_transactions_import_outcome_local_date_punched_at_utc_id_idx"),
        "clock_transactions",
        ["import_outcome", "local_date", "punched_at_utc", "id"],
        unique=False,
    )
    op.create_index(
        "clock_transactions_judge",
        "clock_transactions",
        ["judge_at", "emp_code"],
        unique=False,
        postgresql_where=sa.text("judge_at IS NOT NULL"),
    )
    op.create_index(
        op.f("clock_transactions_local_date_punched_at_utc_id_idx"),
        "clock_transactions",
        ["local_date", "punched_at_utc", "id"],
        unique=False,
    )
    op.create_index(
        "clock_transactions_record",
        "clock_transactions",
        ["host_attendance_id"],
        unique=False,
        postgresql_where=sa.text("host_attendance_id IS NOT NULL"),
    )
    op.create_index(
        op.f("clock_transactions_terminal_sn_local_date_punched_at_utc_id_idx"),
        "clock_transactions",
        ["terminal_sn", "local_date", "punched_at_utc", "id"],
        unique=False,
    )
    op.create_index(
        "clock_transactions_unknown",
        "clock_transactions",
        ["local_date", "punched_at_utc", "id"],
        unique=False,
        postgresql_where=sa.text("punch_code IS NULL OR punch_code < 0 OR punch_code > 5"),
    )
    op.create_index(
        op.f("clock_transactions_updated_at_id_idx"), "clock_transactions", ["updated_at", "id"], unique=False
    )
    op.create_index(
        "clock_transactions_waiting",
        "clock_transactions",
        ["emp_code"],
        unique=False,
        postgresql_where=sa.text("import_outcome IS NULL OR import_outcome = 'not_bound'"),
    )
    op.create_table(
        "clock_employee_bindings",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("clock_employee_id", sa.BigInteger(), nullable=False),
        sa.Column("emp_code", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="unbound", nullable=False),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("host_employee_id", sa.BigInteger(), nullable=True),
        sa.Column("cleared", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("resumes", sa.Text(), nullable=True),
        sa.Column("candidates", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False),
        sa.Column("rejected", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "(state IN ('bound', 'auto_matched', 'missing_remote')) = (host_employee_id IS NOT NULL)",
            name=op.f("clock_employee_bindings_host_employee_check"),
        ),
        sa.CheckConstraint(
            "method IN ('manual', 'kiosk', 'id_number', 'name')", name=op.f("clock_employee_bindings_method_check")
        ),
        sa.CheckConstraint(
            "state IN ('bound', 'auto_matched', 'suggested', 'unbound', 'not_found', 'conflict', 'missing_remote', 'ignored', 'disabled')",
            name=op.f("clock_employee_bindings_state_check"),
        ),
        sa.ForeignKeyConstraint(
            ["clock_employee_id"], ["clock_employees.id"], name=op.f("clock_employee_bindings_clock_employee_id_fkey")
        ),
        sa.ForeignKeyConstraint(
            ["host_employee_id"], ["employees.id"], name=op.f("clock_employee_bindings_host_employee_id_fkey")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_employee_bindings_pkey")),
        sa.UniqueConstraint("clock_employee_id", name=op.f("clock_employee_bindings_clock_employee_id_key")),
        sa.UniqueConstraint("emp_code", name=op.f("clock_employee_bindings_emp_code_key")),
    )
    op.create_index(
        op.f("clock_employee_bindings_host_employee_id_idx"),
        "clock_employee_bindings",
        ["host_employee_id"],
        unique=False,
    )
    op.create_index(
        op.f("clock_employee_bindings_state_id_idx"), "clock_employee_bindings", ["state", "id"], unique=False
    )
    op.create_index(
        op.f("clock_employee_bindings_updated_at_id_idx"), "clock_employee_bindings", ["updated_at", "id"], unique=False
    )
    op.create_table(
        "clock_binding_history",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("binding_id", sa.BigInteger(), nullable=False),
        sa.Column("from_state", sa.Text(), nullable=True),
        sa.Column("to_state", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("host_employee_id", sa.BigInteger(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["binding_id"], ["clock_employee_bindings.id"], name=op.f("clock_binding_history_binding_id_fkey")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("clock_binding_history_pkey")),
    )
    op.create_index(op.f("clock_binding_history_binding_id_idx"), "clock_binding_history", ["binding_id"], unique=False)
    op.create_table(
        "clock_imported_records",
        sa.Column("record_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("clock_in", sa.DateTime(timezone=True), nullable=False),
        sa.Column("clock_out", sa.DateTime(timezone=True), nullable=True),
        sa.Column("breaks", postgresql.ARRAY(postgresql.TSTZRANGE()), server_default="{}", nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["record_id"], ["attendance_records.id"], name=op.f("clock_imported_records_record_id_fkey")
        ),
        sa.PrimaryKeyConstraint("record_id", name=op.f("clock_imported_records_pkey")),
    )
