"""The `muster` command: a list of the files that hold its commands, and what a refusal looks like."""

import sys

import click

from app import garbage
from app.commands import (
    accounts,
    acts,
    attendance,
    clock,
    clock_bindings,
    clock_punches,
    clock_runs,
    database,
    demo,
    frame,
    ledger,
    mail,
    people,
    problems,
    seeds,
    serve,
    survey_responses,
    surveys,
    tenants,
    upkeep,
    webhooks,
)

FILES = (
    serve,
    demo,
    seeds,
    database,
    tenants,
    accounts,
    people,
    attendance,
    clock,
    clock_bindings,
    clock_punches,
    clock_runs,
    surveys,
    survey_responses,
    ledger,
    problems,
    acts,
    mail,
    webhooks,
    upkeep,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="muster")
def cli() -> None:
    """Muster: the time clock's mirror, attendance and surveys. Settings come from the environment (MUSTER_…)."""


for file in FILES:
    for command in file.COMMANDS:
        cli.add_command(command)


def main() -> None:
    """Exit code: 0, 1 with one line on stderr for a refusal, 2 for wrong usage."""
    garbage.start_undisturbed()
    frame.refuse_unkeepable(sys.argv[1:])
    try:
        cli.main(standalone_mode=False, prog_name="muster")
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(wrong.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except Exception as error:
        reason = frame.reason_of(error)
        if reason is None:
            raise
        frame.refuse(reason)
