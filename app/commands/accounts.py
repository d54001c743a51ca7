"""`user:create` and `token:create`."""

import sys
from typing import TYPE_CHECKING

import click

from app.commands import frame
from app.texts import is_keepable

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession


@click.command("user:create")
@click.argument("email")
@click.option("--name", required=True)
@click.option(
    "--type", "kind", default="staff", show_default=True, help="admin, staff, employee, client, or one of your own."
)
@click.option("--role", "roles", multiple=True, help="May be given several times.")
@click.option("--password-stdin", is_flag=True, help="Read the password from the first line of standard input.")
@frame.workspace_option
@frame.json_option
def user_create(
    *,
    email: str,
    name: str,
    kind: str,
    roles: tuple[str, ...],
    password_stdin: bool,
    workspace: str,
    as_json: bool,
) -> None:
    """Add a user. Without a password it prints a one-time link, where the person sets one."""
    from app.accounts import accounts
    from app.accounts.audit import COMMAND_LINE
    from app.accounts.one_time_links import LINK_LIFE

    password = first_line_of_stdin() if password_stdin else None
    new = accounts.NewUser(email, name, kind, roles, password)
    user = frame.in_transaction(lambda db: accounts.create(db, COMMAND_LINE, new), workspace)
    base_url = frame.settings_of_environment().base_url
    link = f"{base_url}/welcome/{user.link_secret}" if user.link_secret else None
    document = {
        "id": user.id,
        "email": user.email,
        "name": name.strip(),
        "type": kind,
        "roles": list(roles),
        "workspace": workspace,
        "link": link,
    }
    lines = [f"{user.email} may sign in at {base_url}/sign-in."]
    if link:
        lines = [f"{user.email} sets a password here, once, within {LINK_LIFE.days} days:", link]
    frame.answer(document, *lines, as_json=as_json)


@click.command("token:create")
@click.argument("email")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(("clock:read", "attendance:read", "surveys:read", "problems:read", "me", "metrics:read")),
)
@click.option("--days", type=click.IntRange(1, 3650), help="Days until it expires; default: never.")
@click.option("--name", default="", help="What it is for; shown in the list of tokens.")
@frame.workspace_option
@frame.json_option
def token_create(
    *,
    email: str,
    scopes: tuple[str, ...],
    days: int | None,
    name: str,
    workspace: str,
    as_json: bool,
) -> None:
    """Make an API token of a user. It is printed once."""
    from app.accounts import tokens
    from app.accounts.audit import COMMAND_LINE

    async def create(db: "AsyncSession") -> tokens.CreatedToken:
        owner_id = await tokens.user_with_email(db, email)
        return await tokens.create(db, COMMAND_LINE, owner_id, scopes, name=name, days=days)

    made = frame.in_transaction(create, workspace)
    document = {
        "id": made.id,
        "token": made.text,
        "email": email.strip().lower(),
        "scopes": list(made.scopes),
        "expires_at": frame.instant(made.expires_at),
    }
    frame.answer(document, made.text, as_json=as_json)


def first_line_of_stdin() -> str:
    """Reads a secret that must not appear in the list of processes. Ends the command when there is none."""
    try:
        line = sys.stdin.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        frame.refuse("The password on standard input is not UTF-8 text.")
    if not line:
        frame.refuse("There was no password on standard input.")
    if not is_keepable(line):
        frame.refuse("The password on standard input is not UTF-8 text, or holds control characters.")
    return line


COMMANDS = (user_create, token_create)
