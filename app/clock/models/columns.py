"""Kinds of columns that several of these tables have."""

from typing import Annotated

from sqlalchemy import Integer, text
from sqlalchemy.orm import mapped_column

Count = Annotated[int, mapped_column(Integer, server_default="0")]
Flag = Annotated[bool, mapped_column(server_default=text("false"))]
