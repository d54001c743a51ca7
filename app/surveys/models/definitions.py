"""Surveys as they are now, with their questions, rounds and texts."""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, SmallInteger, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words
from app.surveys.models.marks import APPEND_ONLY


class Survey(Base):
    """A definition as it is now. `uid` is its public name; `revision` counts saves, so that a stale form is noticed.

    Pacing is null when `enforcement` is required. `published_at` is the first publish of the current version,
    `wording_id` the text in force while published. Deleted ones are removed demo rows. `unnoted_version` is a version
    that went out to apps before `handed_out_at` was stored. `closing_html` is the author's words after an answer.
    `needs` is what an app must be able to show to get it (`question_details.needs`). `language` is the tag of its
    texts; `translations` holds the texts of other languages by tag (app.surveys.translations), null when it has none:
    it has every other language, even one in which only questions have texts. `split` is the group that a ballot of an
    anonymous survey keeps.

    `repeat` is the rule of its rounds (`repeats.Repeat`); `starts_at` and `ends_at` are then the window of a round.
    Rounds of days later than `rounds_after` open by themselves. It is null while none do: the survey is not published,
    or was edited since. An opt-out since version `rounds_from`, the last one that a person published, holds for all
    rounds. `reminded` counts how often people were reminded of this version because of `remind_days`.
    """

    __tablename__ = "surveys"
    __table_args__ = (
        CheckConstraint("type IN ('rating', 'consent', 'poll', 'feedback')", name="type"),
        CheckConstraint("enforcement IN ('optional', 'required')", name="enforcement"),
        CheckConstraint("anonymity IN ('named', 'anonymous')", name="anonymity"),
        CheckConstraint(
            "split IS NULL OR (anonymity = 'anonymous' AND split IN ('type', 'tenant', 'department'))", name="split"
        ),
        CheckConstraint("status IN ('draft', 'published', 'archived')", name="status"),
        CheckConstraint("starts_at < ends_at", name="window"),
        CheckConstraint(
            "(enforcement = 'required') = (snooze_hours IS NULL) AND (enforcement = 'required') = (cooldown_days IS NULL)"
            " AND (enforcement = 'required') = (max_prompts IS NULL)",
            name="pacing",
        ),
        Index("surveys_published", "id", postgresql_where=text("status = 'published' AND deleted_at IS NULL")),
        Index("surveys_rounds", "id", postgresql_where=text("rounds_after IS NOT NULL")),
    )

    id: Mapped[Id]
    uid: Mapped[UUID] = mapped_column(unique=True, server_default=func.gen_random_uuid())
    title: Mapped[str]
    type: Mapped[str]
    enforcement: Mapped[str]
    message: Mapped[str] = mapped_column(server_default="")
    closing_html: Mapped[str] = mapped_column(server_default="")
    anonymity: Mapped[str] = mapped_column(server_default="named")
    split: Mapped[str | None]
    category: Mapped[str | None]
    user_types: Mapped[Words]
    tenants: Mapped[Words]
    starts_at: Mapped[datetime | None]
    ends_at: Mapped[datetime | None]
    snooze_hours: Mapped[int | None]
    cooldown_days: Mapped[int | None]
    max_prompts: Mapped[int | None]
    status: Mapped[str] = mapped_column(server_default="draft")
    version: Mapped[int] = mapped_column(server_default="1")
    content_hash: Mapped[str]
    wording_id: Mapped[int | None] = mapped_column(ForeignKey("survey_wordings.id"))
    published_at: Mapped[datetime | None]
    revision: Mapped[int] = mapped_column(server_default="1")
    demo: Mapped[bool] = mapped_column(server_default=text("false"))
    unnoted_version: Mapped[int | None]
    needs: Mapped[Words]
    language: Mapped[str] = mapped_column(server_default="en")
    translations: Mapped[dict[str, dict[str, str]] | None] = mapped_column(JSONB(none_as_null=True))
    repeat: Mapped[dict[str, object] | None] = mapped_column(JSONB(none_as_null=True))
    remind_days: Mapped[int | None] = mapped_column(SmallInteger)
    rounds_after: Mapped[date | None]
    rounds_from: Mapped[int | None]
    reminded: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_by: Mapped[str]
    updated_at: Mapped[Created]
    deleted_at: Mapped[datetime | None]


class SurveyRound(Base):
    """A round of a repeating survey: of its day (in the zone that the workspace had), open from `starts_at` until
    `ends_at`. It was published as `version`; null means that it was left out, for the reason `left_out`."""

    __tablename__ = "survey_rounds"
    __table_args__ = (
        CheckConstraint("(version IS NULL) = (left_out IS NOT NULL)", name="left_out"),
        UniqueConstraint("survey_id", "version"),
    )

    id: Mapped[Id]
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"))
    version: Mapped[int | None]
    day: Mapped[date]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    left_out: Mapped[str | None]


class Question(Base):
    """A question of the definition as it is now; `key` is its permanent id, in both APIs and in the ledger. `details`
    are those of app.surveys.question_details, `translations` its texts in other languages by tag; null when it has
    none."""

    __tablename__ = "survey_questions"
    __table_args__ = (
        CheckConstraint(
            "type IN ('agreement', 'star_rating', 'scale', 'single_choice', 'multiple_choice', 'free_text',"
            " 'nps', 'number', 'date', 'matrix')",
            name="type",
        ),
        UniqueConstraint("survey_id", "position", deferrable=True, initially="DEFERRED"),
    )

    key: Mapped[UUID] = mapped_column(primary_key=True, server_default=func.gen_random_uuid())
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(SmallInteger)
    label: Mapped[str]
    type: Mapped[str]
    options: Mapped[Words]
    required: Mapped[bool]
    details: Mapped[dict[str, object] | None] = mapped_column(JSONB(none_as_null=True))
    translations: Mapped[dict[str, dict[str, object]] | None] = mapped_column(JSONB(none_as_null=True))


class Wording(Base):
    """The exact words that people saw: the canonical text behind a content hash, and the keys of its questions in
    order.

    Written when a survey is published and at each save of a published one.
    """

    __tablename__ = "survey_wordings"
    __table_args__ = (UniqueConstraint("survey_uid", "version", "content_hash", "question_keys"), APPEND_ONLY)

    id: Mapped[Id]
    survey_uid: Mapped[UUID]
    version: Mapped[int]
    content_hash: Mapped[str]
    content: Mapped[str]
    question_keys: Mapped[Words]
    created_at: Mapped[Created]
