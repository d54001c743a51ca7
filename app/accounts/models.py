"""Schema `shared`: tenants, accounts, roles, sessions, tokens, policies, audit, jobs. No queries."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words

OPEN_JOB = text("status IN ('queued', 'running')")


class Tenant(Base):
    __tablename__ = "tenants"
    __table_args__ = (
        CheckConstraint("ceiling IN ('none', 'optional', 'full')", name="ceiling"),
        Index("tenants_inactive", "key", postgresql_where=text("NOT active")),  # Each look for jobs reads it.
    )

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str]
    ceiling: Mapped[str] = mapped_column(server_default="optional")
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    created_at: Mapped[Created]


class User(Base):
    """A person who signs in. `email` is lower-cased and unique in all workspaces; `workspace`: `main` or a tenant key.

    `totp_used_step` is the latest time step whose code was used, so that no code works twice. `recovery_codes` are
    hashes; a used one is removed. `recovery_id` is the account's id when they were hashed, null for the present `id`.
    It differs when the account came from another installation. `language` is the tag of the language in which the
    person wants to be asked; null means what their browser says. `renamed_at` is when the name last changed.
    """

    __tablename__ = "users"
    # It includes what searches read, so that they read no accounts of other workspaces.
    __table_args__ = (
        Index("users_found_by", "workspace", "name", "id", postgresql_include=["email", "active"]),
        Index("users_renamed", "renamed_at", postgresql_where=text("renamed_at IS NOT NULL")),
    )

    id: Mapped[Id]
    workspace: Mapped[str]
    email: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    type: Mapped[str] = mapped_column(server_default="staff")
    password_hash: Mapped[str | None]
    password_changed_at: Mapped[datetime | None]
    totp_secret: Mapped[str | None]
    totp_used_step: Mapped[int | None]
    recovery_codes: Mapped[Words]
    recovery_id: Mapped[int | None]
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    failed_sign_ins: Mapped[int] = mapped_column(server_default="0")
    locked_until: Mapped[datetime | None]
    last_sign_in_at: Mapped[datetime | None]
    preferences: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    language: Mapped[str | None]
    created_at: Mapped[Created]
    renamed_at: Mapped[datetime | None]


class Passkey(Base):
    """A key pair on a person's device; here is its public half (COSE). `site` is the name in the portal's address when
    the passkey was made: under another name it does not work. `sign_count` is the device's own count, 0 if it does not
    count."""

    __tablename__ = "passkeys"
    __table_args__ = (UniqueConstraint("user_id", "name"),)

    id: Mapped[Id]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    site: Mapped[str]
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int]
    transports: Mapped[Words]
    created_at: Mapped[Created]
    last_used_at: Mapped[datetime | None]


class PasskeyChallenge(Base):
    """What a person's browser was asked to sign, until it answers or `expires_at`."""

    __tablename__ = "passkey_challenges"
    __table_args__ = (CheckConstraint("purpose IN ('add', 'sign_in')", name="purpose"),)

    challenge: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    purpose: Mapped[str]
    expires_at: Mapped[datetime]


class UserType(Base):
    __tablename__ = "user_types"

    workspace: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str]


class Role(Base):
    """A named set of permissions; `builtin` ones can't be renamed or deleted."""

    __tablename__ = "roles"
    __table_args__ = (UniqueConstraint("workspace", "name"),)

    id: Mapped[Id]
    workspace: Mapped[str]
    name: Mapped[str]
    permissions: Mapped[Words]
    builtin: Mapped[bool] = mapped_column(server_default=text("false"))


class UserRole(Base):
    __tablename__ = "user_roles"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    role_id: Mapped[int] = mapped_column(ForeignKey("roles.id"), primary_key=True, index=True)


class Session(Base):
    """A signed-in browser. `id_hash` is SHA-256 of an id that we issued; `flash` holds messages for the next page.
    `carried` is what the person wrote before their last session ended, sealed for an hour (app.web.drafts.carrying). It
    lives too short to need a key of its own."""

    __tablename__ = "sessions"

    id_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    public_id: Mapped[Id] = mapped_column(primary_key=False, unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    flash: Mapped[list[Any]] = mapped_column(JSONB, server_default="[]")
    carried: Mapped[str | None]
    ip: Mapped[str]
    user_agent: Mapped[str]
    created_at: Mapped[Created]
    last_seen_at: Mapped[Created]
    expires_at: Mapped[datetime]


class ApiToken(Base):
    """A bearer token of both JSON APIs: shown once, stored as SHA-256. `hint` is its last four characters.

    `made_by` is its maker's name at that time, null if it was not kept; `made_by_id` is the maker's account, null for a
    command.
    """

    __tablename__ = "api_tokens"

    id: Mapped[Id]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    hint: Mapped[str]
    scopes: Mapped[Words]
    made_by_id: Mapped[int | None]
    made_by: Mapped[str | None]
    created_at: Mapped[Created]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class RequestBudget(Base):
    """How many requests a token has left in this minute, and how many the last process took
    (app.accounts.rate_limit_rows). It has no foreign key to its token, because checking one would make PostgreSQL write
    to the disk."""

    __tablename__ = "request_budgets"
    __table_args__ = ({"prefixes": ["UNLOGGED"]},)

    token_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    remaining: Mapped[float]
    granted: Mapped[int]
    at: Mapped[datetime]


class ClockSignIn(Base):
    """The session with one account of a time-clock server, for all workspaces that use the account
    (app.clock.connection.shared_session). `account` is a keyed hash of the server's address, the account and its
    password, so it reveals none of them. `tokens` are sealed for the platform's workspace."""

    __tablename__ = "clock_sign_ins"

    id: Mapped[Id]
    account: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    tokens: Mapped[str | None]
    saved_at: Mapped[Created]


class OneTimeLink(Base):
    """An invitation or password reset; it works once."""

    __tablename__ = "one_time_links"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Policy(Base):
    """One switch or number of one workspace; what is not stored has its default (app.accounts.policies)."""

    __tablename__ = "policies"

    workspace: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[Any] = mapped_column(JSONB)


class AuditEntry(Base):
    """One act of one person or of the system, with what it changed. `actor_name` is the name at that time;
    `actor_token` is the name of the API token by which the person acted: null for none, and in entries from before this
    was stored."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index(None, "workspace", "id"),
        Index(None, "workspace", "at", "id"),
        Index(None, "workspace", "subject_type", "subject_id", "id"),
        Index(None, "workspace", "actor_id"),
        Index(None, "workspace", "act", "id"),
        Index("audit_entries_erasures", "subject_id", postgresql_where=text("act = 'person.erase'")),
        {"info": {"append_only": True}},
    )

    id: Mapped[Id]
    at: Mapped[Created]
    workspace: Mapped[str]
    actor_id: Mapped[int | None]
    actor_name: Mapped[str]
    actor_token: Mapped[str | None]
    act: Mapped[str]
    subject_type: Mapped[str]
    subject_id: Mapped[str]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]
    ip: Mapped[str | None]
    request_id: Mapped[str | None]


class Job(Base):
    """Work that is due. This row decides; the queue's entry only wakes a worker.
    `key` allows one waiting or running job of a kind per workspace. `attempt` stops a run from writing after another
    worker took it over; `uncounted` of them ended because the database server left, and cost the job nothing."""

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint("status IN ('queued', 'running', 'done', 'failed')", name="status"),
        Index("jobs_open_key", "workspace", "key", unique=True, postgresql_where=OPEN_JOB),
        Index("jobs_due", "due_at", postgresql_where=OPEN_JOB),
        Index(None, "workspace", "id"),
        Index(None, "workspace", "name", "id"),
        Index("jobs_failed", "workspace", "id", postgresql_where=text("status = 'failed'")),
        Index("jobs_done_keys", "workspace", "key", "id", postgresql_where=text("status = 'done'")),
        Index("jobs_done_names", "workspace", "name", "finished_at", postgresql_where=text("status = 'done'")),
        Index("jobs_over", "finished_at", postgresql_where=text("status IN ('done', 'failed')")),
        # Kept for a day only.
        Index("jobs_sweeps", "finished_at", postgresql_where=text("name = 'problems_sweep'")),
    )

    id: Mapped[Id]
    workspace: Mapped[str]
    name: Mapped[str]
    key: Mapped[str]
    arguments: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    status: Mapped[str] = mapped_column(server_default="queued")
    attempt: Mapped[int] = mapped_column(server_default="0")
    uncounted: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[Created]
    due_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    error: Mapped[str | None]


class WorkspaceLook(Base):
    """When the schedule next looks for due work in a workspace (app.accounts.schedule_looks)."""

    __tablename__ = "workspace_looks"
    __table_args__ = (Index(None, "next_at"),)

    workspace: Mapped[str] = mapped_column(primary_key=True)
    next_at: Mapped[Created]


class WorkerHeartbeat(Base):
    __tablename__ = "worker_heartbeats"

    worker: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[Created]
    seen_at: Mapped[Created]
