"""Who was asked what: prompts, invitations, and the language in which a survey was shown."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, SmallInteger, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created


class Invitation(Base):
    """A mail about one version that waits for one person, or was sent or dropped. `turn` 0 is an invitation, 1 and 2
    are reminders, so a person is never reminded more than twice. `asked_by` is who asked for it."""

    __tablename__ = "survey_invitations"
    __table_args__ = (
        CheckConstraint("turn BETWEEN 0 AND 2", name="turn"),
        CheckConstraint("num_nonnulls(sent_at, dropped_at) < 2", name="ended"),
        Index("survey_invitations_waiting", "due_at", postgresql_where=text("sent_at IS NULL AND dropped_at IS NULL")),
    )

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    turn: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    asked_by: Mapped[str]
    due_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    dropped_at: Mapped[datetime | None]


class PromptState(Base):
    """How often and when one person saw one version. `shown_in` is the number of the browser session in which the web
    prompt shows it until the person acts on it; `handed_out_at` is when an app first got it behind another survey,
    which counts no impression."""

    __tablename__ = "survey_prompt_state"
    __table_args__ = (Index(None, "user_id", "last_shown_at"), Index(None, "first_shown_at"))

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(primary_key=True)
    impressions: Mapped[int] = mapped_column(server_default="0")
    first_shown_at: Mapped[datetime | None]
    last_shown_at: Mapped[datetime | None]
    snoozed_until: Mapped[datetime | None]
    shown_in: Mapped[int | None]
    handed_out_at: Mapped[datetime | None]


class LanguageShown(Base):
    """A language other than its own in which somebody saw this version: from then on its texts are content."""

    __tablename__ = "survey_languages_shown"

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    shown_at: Mapped[Created]
