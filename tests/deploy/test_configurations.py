"""What lies in `deploy/` besides the proxies: units that systemd takes, a compose file that fits the portal,
one recipe of the image."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.config import REQUIRED_IN_PRODUCTION, read_settings
from app.web.transport.body import LARGEST
from tests.cluster import ROOT

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMMAND = "/opt/muster/.venv/bin/muster"
# Of ten, which stands for no hardening at all. A network and sockets are needed.
MOST_EXPOSED = 1.5
SETTING = re.compile(r"\bMUSTER_[A-Z_]+")


def compose() -> dict[str, Any]:
    """Anchors and merges are resolved."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


@pytest.fixture
def systemd_analyze() -> str:
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not installed")
    return found


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_the_unit_as_it_stands(unit: Path, systemd_analyze: str, tmp_path: Path) -> None:
    text = unit.read_text()
    assert f"ExecStart={COMMAND} " in text
    copy = tmp_path / unit.name
    # The command lies elsewhere on this machine, and systemd looks whether it is there.
    copy.write_text(text.replace(COMMAND, sys.executable))
    done = subprocess.run(
        [systemd_analyze, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_unit_is_shut_in(unit: Path, systemd_analyze: str) -> None:
    limit = f"--threshold={MOST_EXPOSED * 10:.0f}"
    done = subprocess.run(
        [systemd_analyze, "security", "--offline=yes", limit, str(unit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_only_the_unit_that_makes_tables_is_told_the_owner(unit: Path) -> None:
    assert ("owner.env" in unit.read_text()) == (unit.stem == "muster-migrate")


def test_the_units_give_a_process_the_time_that_it_takes_to_end() -> None:
    from app.commands.serve import GRACE_S

    (seconds,) = re.findall(r"TimeoutStopSec=(\d+)", (DEPLOY / "systemd" / "muster-web@.service").read_text())
    assert int(seconds) > read_settings({}).drain_s + GRACE_S
    assert compose()["services"]["web1"]["stop_grace_period"] == f"{seconds}s"


def test_the_compose_file_starts_what_it_says_and_migrates_first() -> None:
    services = compose()["services"]
    assert list(services) == ["database", "migrate", "web1", "web2", "worker1", "worker2", "proxy"]
    for name in ("web1", "web2", "worker1", "worker2"):
        assert services[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
        assert "MUSTER_OWNER_DATABASE_URL" not in services[name]["environment"]
    assert services["migrate"]["command"] == ["migrate:modules"]
    assert services["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert [services[name]["command"] for name in ("worker1", "worker2")] == [["worker"], ["worker"]]
    assert {name for name, one in services.items() if "ports" in one} == {"proxy"}


def test_the_compose_file_sets_what_production_needs() -> None:
    given = compose()["services"]["migrate"]["environment"]
    known = set(SETTING.findall((ROOT / "app" / "config" / "__init__.py").read_text())) | {"MUSTER_DATABASE_URL"}
    assert set(REQUIRED_IN_PRODUCTION) <= set(given) <= known
    asked = set(re.findall(r"\$\{(\w+):[?-]", (DEPLOY / "compose.yaml").read_text()))
    assert set(re.findall(r"(?m)^(\w+)=", (DEPLOY / "example.env").read_text())) == asked


def test_what_the_compose_file_brings_in_is_there() -> None:
    services = compose()["services"].values()
    mounts = [mount.split(":")[0] for one in services for mount in one.get("volumes", ())]
    ours = [mount for mount in mounts if mount.startswith("./")]
    assert len(ours) == 2
    assert [mount for mount in ours if not (DEPLOY / mount).is_file()] == []


def test_there_is_one_recipe_of_the_image() -> None:
    recipe = (ROOT / "Dockerfile").read_text()
    assert set(re.findall(r"(?m)^FROM (\S+)", recipe)) == {"${BASE}"}
    script = (DEPLOY / "image.sh").read_text()
    assert '--build-arg "BASE=$base"' in script
    assert not re.search(r"(?m)^\s*stored (run|copy|config)", script.partition("make_base()")[2])


# Stands for buildah: shows its arguments, runs the command with what the mounted file says, and leaves the rest.
BUILDAH = """#!/bin/sh
case "$*" in *" from "*) echo made; exit ;; *" rm "*) exit ;; esac
echo "$@"
while [ "$1" != -- ]; do case "$1" in *:/run/muster.env:ro) mounted=${1%%:*} ;; esac; shift; done
shift 5
env -i PATH="$PATH" sh -c ". $mounted"'; exec "$@"' sh "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="buildah in chroot isolation needs root")
def test_the_image_is_run_with_the_settings_of_the_caller_and_no_argument_holds_them(tmp_path: Path) -> None:
    for name, content in {"buildah": BUILDAH, "debootstrap": ""}.items():
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    given = {"MUSTER_SECRET_KEYS": "k1:it's $HOME", "OTHER": "other", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [str(DEPLOY / "image.sh"), str(tmp_path / "images"), "--run", "env"]
    arguments, _, seen = subprocess.run(
        command, env=given, capture_output=True, text=True, check=True
    ).stdout.partition("\n")
    assert "MUSTER_SECRET_KEYS=k1:it's $HOME" in seen.splitlines()
    assert "OTHER=" not in seen
    assert "k1:" not in arguments


@pytest.mark.parametrize("script", sorted(DEPLOY.rglob("*.sh")), ids=lambda script: script.name)
def test_the_shell_reads_the_script(script: Path) -> None:
    assert subprocess.run(["sh", "-n", str(script)], capture_output=True, check=False).returncode == 0
    assert script.stat().st_mode & 0o111


def test_caddy_takes_the_file_without_any_variable() -> None:
    if shutil.which("caddy") is None:
        pytest.skip("caddy is not installed")
    options = ["--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    validated = subprocess.run(["caddy", "validate", *options], capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stderr
    read = subprocess.run(["caddy", "adapt", *options], capture_output=True, text=True, check=True)
    assert f'"max_size":{LARGEST}}}' in read.stdout
