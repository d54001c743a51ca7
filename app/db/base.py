"""What every table shares: one declarative base, naming of constraints, and the few column kinds in use.
No engine here."""

from datetime import datetime
from typing import Annotated, Any, ClassVar

from sqlalchemy import BigInteger, DateTime, Identity, MetaData, Text, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column

NAMING = {
    "pk": "%(table_name)s_pkey",
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "fk": "%(table_name)s_%(column_0_name)s_fkey",
    "ck": "%(table_name)s_%(constraint_name)s_check",
}

Instant = Annotated[datetime, mapped_column(DateTime(timezone=True))]
Created = Annotated[datetime, mapped_column(DateTime(timezone=True), server_default=func.now())]
Id = Annotated[int, mapped_column(BigInteger, Identity(), primary_key=True)]
Words = Annotated[list[str], mapped_column(ARRAY(Text), server_default="{}")]


class Base(DeclarativeBase):
    """A table's schema is never named: the session seam sets the search path."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar = {
        str: Text,
        int: BigInteger,
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB,
    }
