"""Drafts a migration from the difference between the models and a migrated database:
`make migration module=clock title=…`.

A draft is read and tidied before it is committed; nothing at run time imports this module.
"""

import re
import sys
from datetime import UTC, datetime

import psycopg
from alembic import command
from sqlalchemy import create_engine, text

from app.config.hosts import for_psycopg
from app.db.session import PLATFORM
from app.db.steps import SHARED, config_of


def draft(owner_url: str, module: str, title: str) -> None:
    """Writes migrations/versions/MODULE/DATE_title.py."""
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(owner_url, **for_psycopg(owner_url))
    )
    config = config_of(module)
    config.set_main_option("file_template", "%%(rev)s")
    slug = re.sub(r"\W+", "_", title.lower()).strip("_")
    with engine.connect() as connection:
        path = SHARED if module == SHARED else f"{PLATFORM}, {SHARED}"
        connection.execute(text("SELECT set_config('search_path', :path, false)"), {"path": path})
        config.attributes["connection"] = connection
        command.revision(config, message=title, autogenerate=True, rev_id=f"{datetime.now(UTC):%Y_%m_%d}_{slug}")


if __name__ == "__main__":
    draft(*sys.argv[1:4])
