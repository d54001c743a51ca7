"""Writes a dump for the tests of upgrades, as this version writes it:
`python -m tests.postgres15 python -m tests.upgrade NAME`.

Do it once, with the version that people run, before a later one changes its tables.
NAME sorts behind those that are kept.
"""

import asyncio
import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app import wiring
from app.accounts import accounts, policies, tenants
from app.accounts.accounts import NewUser
from app.accounts.audit import COMMAND_LINE
from app.config import read_settings
from app.db.migrate import migrate
from app.db.session import PLATFORM, Database
from app.main import build_site, open_site
from app.parts import Parts, make_parts
from app.secrets import new_key_text
from tests.cluster import APP_URL, OWNER_URL, DatabaseUrls, TestCluster
from tests.upgrade import clock_life, reading
from tests.upgrade.kept import Dump
from tests.upgrade.survey_life import SurveyLife

TENANT = "acme"
PROFILES = {PLATFORM: "cloud", TENANT: "onprem"}


def main(name: str) -> None:
    cluster = TestCluster(os.environ[APP_URL], os.environ[OWNER_URL])
    urls = cluster.create_empty()
    try:
        with tempfile.TemporaryDirectory() as folder:
            notes = asyncio.run(_live(urls, cluster, Path(folder)))
        Dump(name).write(urls.owner, notes)
    finally:
        cluster.drop(urls)
        cluster.close()


async def _live(urls: DatabaseUrls, cluster: TestCluster, folder: Path) -> dict[str, object]:
    """Everything happens by the product's own verbs. Returns the notes beside the dump."""
    now = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(minutes=10) + clock_life.BEFORE
    keys = new_key_text("kept")
    parts = _parts(urls, keys, folder)
    wiring.connect()
    try:
        await _found(parts.database, urls, cluster.app_role)
        await clock_life.live(parts, PROFILES, now)
        site = open_site(build_site(), parts)
        for workspace in PROFILES:
            await SurveyLife(parts, workspace, site).live()
        told = await reading.everything(parts, list(PROFILES), now)
    finally:
        await parts.close()
    roles = [cluster.app_role, cluster.owner_role]
    return {"keys": keys, "roles": roles, "workspaces": list(PROFILES), "now": now.isoformat(), "told": told}


def _parts(urls: DatabaseUrls, keys: str, folder: Path) -> Parts:
    environment = {
        "MUSTER_DATA_DIR": str(folder),
        "MUSTER_SECRET_KEYS": keys,
        "MUSTER_BASE_URL": "http://testserver",
        "MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32",
    }
    return make_parts(read_settings(environment), urls.app)


async def _found(database: Database, urls: DatabaseUrls, app_role: str) -> None:
    await migrate(urls.owner, app_role, workspaces=[PLATFORM])
    await tenants.found_all(database)
    await tenants.create_tenant(database, urls.owner, app_role, key=TENANT, name="Acme Timepieces", ceiling="full")
    for workspace in PROFILES:
        async with database.transaction(workspace) as db:
            new = NewUser(
                f"olga@{workspace}.example.org", "Olga Operator", "staff", ("Operator",), "correct horse battery"
            )
            await accounts.create(db, COMMAND_LINE, new)
            await policies.write(db, workspace, {"optional_gap_hours": 0, "web_prompts": workspace == PLATFORM})


if __name__ == "__main__":
    main(sys.argv[1])
