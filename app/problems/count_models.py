"""`shared.problem_counts`: how many problems of each kind are open in each workspace. Metrics and menus read it,
because counting takes too long for them."""

from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class ProblemCount(Base):
    """Derived from `problems`; app.problems.counting keeps it. A kind without a row has none open. `snoozed`: how many
    of the open ones are put off, by when that ends."""

    __tablename__ = "problem_counts"

    workspace: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    open: Mapped[int]
    snoozed: Mapped[dict[str, int]] = mapped_column(JSONB, server_default="{}")
