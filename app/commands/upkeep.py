"""`doctor`, `secrets:rotate`, `module:test`, `api:generate-spec`."""

import json
import subprocess
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.commands import frame

if TYPE_CHECKING:
    from app.doctor import ReportLine
    from app.parts import Parts
    from app.sealed import Rotation

ROOT = Path(__file__).parents[2]
TESTS = {"clock": "tests/clock", "host": "tests/host", "surveys": "tests/surveys"}
# Packages that a module's tests need beside the product.
RUNS_TESTS = ("pytest", "pytest_asyncio", "hypothesis", "schemathesis")
HOW_TO_TEST = "In a copy of the source, run `make test` or `pip install -r requirements-dev.lock` to install them."
NAMED = 3
MARKS = {"ok": "ok  ", "warning": "warn", "failed": "FAIL"}


@click.command("doctor")
@frame.json_option
def doctor(*, as_json: bool) -> None:
    """Check database, migrations, keys, queue, workers, time clocks and outbound policy: one line each."""
    from app import doctor as checks

    settings = frame.settings_of_environment()
    with frame.database(settings) as urls:

        async def examine(parts: "Parts") -> "list[ReportLine]":
            return await checks.examine(parts, urls.owner)

        findings = frame.run(frame.acting(settings, urls, examine))
    lines = [f"{MARKS[one.level]}  {one.name}: {one.sentence}" for one in findings]
    frame.answer([asdict(one) for one in findings], *lines, as_json=as_json)
    failed = [one.name for one in findings if one.level == "failed"]
    if failed:
        frame.refuse(f"Not in order: {', '.join(failed)}.")


@click.command("secrets:rotate")
@frame.json_option
def secrets_rotate(*, as_json: bool) -> None:
    """Seal every secret with the first key of MUSTER_SECRET_KEYS. Interrupted, run it again."""
    from app import sealed

    async def rotate(parts: "Parts") -> "Rotation":
        return await sealed.rotate(parts.database, parts.keys)

    done = frame.with_parts(rotate)
    document = {"rotated": done.rotated, "unchanged": done.unchanged, "broken": done.broken}
    sentence = f"{done.rotated} secrets sealed again, {done.unchanged} had the first key already."
    frame.answer(document, sentence, as_json=as_json)
    if done.broken:
        more = f" and {len(done.broken) - NAMED} more" if len(done.broken) > NAMED else ""
        frame.refuse(
            f"No key opens {'; '.join(done.broken[:NAMED])}{more}."
            " Add the key that they were sealed with to MUSTER_SECRET_KEYS again; without it, they are lost."
        )


@click.command("module:test")
@click.argument("name", metavar="NAME")
def module_test(*, name: str) -> None:
    """Run the tests of a module: Clock, Host or Surveys."""
    folder = TESTS.get(name.lower())
    if folder is None:
        raise click.UsageError(f"there is no module {name}; there are {', '.join(sorted(TESTS))}")
    if not (ROOT / folder).is_dir():
        frame.refuse(f"There are no tests in {folder}: this installation came without them. {HOW_TO_TEST}")
    if missing := [name for name in RUNS_TESTS if find_spec(name) is None]:
        frame.refuse(
            f"The tests need the development dependencies; these are missing: {', '.join(missing)}. {HOW_TO_TEST}"
        )
    raise SystemExit(subprocess.run([sys.executable, "-m", "pytest", "-q", folder], cwd=ROOT, check=False).returncode)  # noqa: S603 -- our own command line


@click.command("api:generate-spec")
@click.option(
    "--output", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Default: standard output."
)
@click.option("--api", type=click.Choice(("end-user", "integration")), default="end-user", show_default=True)
@frame.json_option
def api_generate_spec(*, output: Path | None, api: str, as_json: bool) -> None:
    """Write the OpenAPI document of one of the two JSON APIs."""
    settings = frame.settings_of_environment()
    if api == "integration":
        from app.clock.api.routes import openapi_document
    else:
        from app.surveys.api.surveys import openapi_document
    written = json.dumps(openapi_document(settings.base_url), ensure_ascii=False, indent=2)
    if output is None:
        click.echo(written)
    else:
        try:
            output.write_text(written + "\n", encoding="utf-8")
        except OSError as error:
            frame.refuse(f"{output} can't be written: {error.strerror}.")
        if as_json:
            frame.answer({"output": str(output), "api": api}, as_json=True)
        else:
            click.echo(f"Written to {output}.", err=True)


COMMANDS = (doctor, secrets_rotate, module_test, api_generate_spec)
