"""The tables of surveys, the guards of the ledger, and the two rows that are always there."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_21_first_tables"
down_revision = None

LEDGER = ("survey_wordings", "survey_responses", "survey_answers")
# ALWAYS: also where replication or a superuser's setting would switch ordinary triggers off.
GUARDS = (
    """
    CREATE FUNCTION survey_ledger_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '% is append-only: no row of it changes or goes', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
    END $$
    """,
    *(
        statement
        for table in LEDGER
        for statement in (
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION survey_ledger_stays()",
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only",
        )
    ),
)


def upgrade() -> None:
    op.create_table(
        "survey_ledger_head",
        sa.Column("id", sa.SmallInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("row_hash", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("survey_ledger_head_single_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_ledger_head_pkey")),
        info={"one_row": True},
    )
    op.create_table(
        "survey_person_keys",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("sealed_key", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(sealed_key IS NULL) = (erased_at IS NOT NULL)", name=op.f("survey_person_keys_erased_check")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_person_keys_pkey")),
    )
    op.create_index(
        "survey_person_keys_live",
        "survey_person_keys",
        ["user_id"],
        unique=True,
        postgresql_where=sa.text("erased_at IS NULL"),
    )
    op.create_table(
        "survey_tally_mark",
        sa.Column("id", sa.SmallInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column(
            "shown_until",
            sa.DateTime(timezone=True),
            server_default=sa.text("'1970-01-01T00:00:00Z'"),
            nullable=False,
        ),
        sa.CheckConstraint("id = 1", name=op.f("survey_tally_mark_single_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_tally_mark_pkey")),
        info={"one_row": True},
    )
    op.create_table(
        "survey_wordings",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("survey_uid", sa.Uuid(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("question_keys", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_wordings_pkey")),
        sa.UniqueConstraint(
            "survey_uid",
            "version",
            "content_hash",
            "question_keys",
            name=op.f("survey_wordings_survey_uid_version_content_hash_question_keys_key"),
        ),
        info={"append_only": True},
    )
    op.create_table(
        "surveys",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("uid", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("enforcement", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("user_types", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("tenants", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("snooze_hours", sa.BigInteger(), nullable=True),
        sa.Column("cooldown_days", sa.BigInteger(), nullable=True),
        sa.Column("max_prompts", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.Text(), server_default="draft", nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("wording_id", sa.BigInteger(), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("demo", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(enforcement = 'required') = (snooze_hours IS NULL) AND (enforcement = 'required') = (cooldown_days IS NULL) AND (enforcement = 'required') = (max_prompts IS NULL)",
            name=op.f("surveys_pacing_check"),
        ),
        sa.CheckConstraint("enforcement IN ('optional', 'required')", name=op.f("surveys_enforcement_check")),
        sa.CheckConstraint("status IN ('draft', 'published', 'archived')", name=op.f("surveys_status_check")),
        sa.CheckConstraint("type IN ('rating', 'consent', 'poll', 'feedback')", name=op.f("surveys_type_check")),
        sa.CheckConstraint("starts_at < ends_at", name=op.f("surveys_window_check")),
        sa.ForeignKeyConstraint(["wording_id"], ["survey_wordings.id"], name=op.f("surveys_wording_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("surveys_pkey")),
        sa.UniqueConstraint("uid", name=op.f("surveys_uid_key")),
    )
    op.create_index(
        "surveys_published",
        "surveys",
        ["id"],
        unique=False,
        postgresql_where=sa.text("status = 'published' AND deleted_at IS NULL"),
    )
    op.create_table(
        "survey_prompt_state",
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("impressions", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("first_shown_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_shown_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("snoozed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("shown_in", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_prompt_state_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("survey_id", "version", "user_id", name=op.f("survey_prompt_state_pkey")),
    )
    op.create_index(
        op.f("survey_prompt_state_user_id_last_shown_at_idx"),
        "survey_prompt_state",
        ["user_id", "last_shown_at"],
        unique=False,
    )
    op.create_index(
        op.f("survey_prompt_state_first_shown_at_idx"), "survey_prompt_state", ["first_shown_at"], unique=False
    )
    op.create_table(
        "survey_questions",
        sa.Column("key", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("options", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("required", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "type IN ('agreement', 'star_rating', 'scale', 'single_choice', 'multiple_choice', 'free_text')",
            name=op.f("survey_questions_type_check"),
        ),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_questions_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("survey_questions_pkey")),
        sa.UniqueConstraint(
            "survey_id",
            "position",
            deferrable=True,
            initially="DEFERRED",
            name=op.f("survey_questions_survey_id_position_key"),
        ),
    )
    op.create_table(
        "survey_responses",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("wording_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("prompted", sa.Boolean(), nullable=False),
        sa.Column("has_text", sa.Boolean(), nullable=False),
        sa.Column("key_id", sa.BigInteger(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("row_hash", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('answered', 'agreed', 'declined', 'opted_out')", name=op.f("survey_responses_outcome_check")
        ),
        sa.CheckConstraint("source IN ('web', 'api', 'demo')", name=op.f("survey_responses_source_check")),
        sa.ForeignKeyConstraint(["key_id"], ["survey_person_keys.id"], name=op.f("survey_responses_key_id_fkey")),
        sa.ForeignKeyConstraint(["survey_id"], ["surveys.id"], name=op.f("survey_responses_survey_id_fkey")),
        sa.ForeignKeyConstraint(["wording_id"], ["survey_wordings.id"], name=op.f("survey_responses_wording_id_fkey")),
        sa.PrimaryKeyConstraint("number", name=op.f("survey_responses_pkey")),
        sa.UniqueConstraint("row_hash", name=op.f("survey_responses_row_hash_key")),
        sa.UniqueConstraint(
            "survey_id", "version", "user_id", name=op.f("survey_responses_survey_id_version_user_id_key")
        ),
        info={"append_only": True},
    )
    op.create_index(
        op.f("survey_responses_outcome_recorded_at_number_idx"),
        "survey_responses",
        ["outcome", "recorded_at", "number"],
        unique=False,
    )
    op.create_index(
        op.f("survey_responses_recorded_at_number_idx"), "survey_responses", ["recorded_at", "number"], unique=False
    )
    op.create_index(
        op.f("survey_responses_survey_id_recorded_at_number_idx"),
        "survey_responses",
        ["survey_id", "recorded_at", "number"],
        unique=False,
    )
    op.create_index(
        op.f("survey_responses_user_id_number_idx"), "survey_responses", ["user_id", "number"], unique=False
    )
    op.create_index(
        "survey_responses_texts",
        "survey_responses",
        ["survey_id", "version", "number"],
        unique=False,
        postgresql_where=sa.text("has_text"),
    )
    op.create_table(
        "survey_tallies",
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("question_key", sa.Uuid(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.Column("people", sa.BigInteger(), nullable=False),
        sa.Column("unprompted", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_tallies_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(
            "survey_id", "version", "day", "outcome", "question_key", "choice", name=op.f("survey_tallies_pkey")
        ),
    )
    op.create_index(
        "survey_tallies_whole",
        "survey_tallies",
        ["survey_id", "version", "day", "outcome"],
        unique=False,
        postgresql_include=["people", "unprompted"],
        postgresql_where=sa.text("question_key = '00000000-0000-0000-0000-000000000000'::uuid"),
    )
    op.create_index(
        "survey_tallies_days",
        "survey_tallies",
        ["day", "outcome"],
        unique=False,
        postgresql_include=["people"],
        postgresql_where=sa.text("question_key = '00000000-0000-0000-0000-000000000000'::uuid"),
    )
    op.create_table(
        "survey_answers",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("question_key", sa.Uuid(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["number"], ["survey_responses.number"], name=op.f("survey_answers_number_fkey")),
        sa.PrimaryKeyConstraint("number", "question_key", "choice", name=op.f("survey_answers_pkey")),
        info={"append_only": True},
    )
    op.create_index(
        op.f("survey_answers_question_key_number_idx"), "survey_answers", ["question_key", "number"], unique=False
    )
    op.create_table(
        "survey_tombstones",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["number"], ["survey_responses.number"], name=op.f("survey_tombstones_number_fkey")),
        sa.PrimaryKeyConstraint("number", name=op.f("survey_tombstones_pkey")),
        info={"append_only": True},
    )
    for statement in GUARDS:
        op.execute(statement)
    op.execute("INSERT INTO survey_ledger_head (number, row_hash) VALUES (0, decode(repeat('00', 32), 'hex'))")
    op.execute("INSERT INTO survey_tally_mark (number) VALUES (0)")
