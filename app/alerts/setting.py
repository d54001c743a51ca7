"""`shared.alert_settings`: what each person chose on *Account → Notifications*."""

from datetime import time
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.alerts.rules import LONGEST_AFTER, PACES, SEVERITIES
from app.db.base import Base, Created

_PACES = ", ".join(f"'{pace}'" for pace in PACES)


class AlertSetting(Base):
    """A person without a row has not chosen yet. The columns are the fields of app.alerts.rules.AlertRules; minutes in
    `…_after`; `quiet_from` is null where there are no quiet hours."""

    __tablename__ = "alert_settings"
    __table_args__ = (
        *(CheckConstraint(f"{name} IN ({_PACES})", name=name) for name in SEVERITIES),
        *(CheckConstraint(f"{name}_after BETWEEN 0 AND {LONGEST_AFTER}", name=f"{name}_after") for name in SEVERITIES),
        CheckConstraint("digest IN ('daily', 'weekly')", name="digest"),
        CheckConstraint("digest_weekday BETWEEN 0 AND 6 AND digest_hour BETWEEN 0 AND 23", name="digest_at"),
        CheckConstraint("(quiet_from IS NULL) = (quiet_to IS NULL)", name="quiet"),
    )

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    critical: Mapped[str] = mapped_column(Text)
    critical_after: Mapped[int]
    warning: Mapped[str] = mapped_column(Text)
    warning_after: Mapped[int]
    info: Mapped[str] = mapped_column(Text)
    info_after: Mapped[int]
    kinds: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    digest: Mapped[str] = mapped_column(Text)
    digest_weekday: Mapped[int]
    digest_hour: Mapped[int]
    quiet_from: Mapped[time | None]
    quiet_to: Mapped[time | None]
    quiet_but_critical: Mapped[bool]
    zone: Mapped[str]
    changed_at: Mapped[Created]
