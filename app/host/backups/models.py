"""The shared table of what backups call. No query lives here."""

from datetime import datetime

from sqlalchemy import CheckConstraint, LargeBinary, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created


class BackupWatch(Base):
    """One row, once a person made the address that backups call: the SHA-256 of its secret, its last characters, and
    the hours within which the next call is expected. Nothing is expected before the first call. `made_by` stays empty:
    the audit says who made it, and names no erased person."""

    __tablename__ = "backup_watch"
    __table_args__ = (
        CheckConstraint("id = 1", name="one"),
        CheckConstraint("expected_hours BETWEEN 1 AND 8784", name="hours"),
    )

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False, server_default="1")
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary)
    hint: Mapped[str]
    expected_hours: Mapped[int] = mapped_column(SmallInteger, server_default="26")
    made_by: Mapped[str]
    made_at: Mapped[Created]
    last_ping_at: Mapped[datetime | None]
