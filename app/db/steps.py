"""The steps under migrations/versions/MODULE, and how one of them is taken on a connection that stands in a schema.

Which module has which tables is said in MODULES alone. A step may say of itself, at the top of its file:

* `CONCURRENT = True`: it only builds or drops indexes with `postgresql_concurrently=True`, outside a transaction.
* `SLICED = True`: it changes rows in slices. `upgrade()` changes one slice, finds by itself which one, and returns True
  while there is more. Each slice is a transaction.
* `CONTRACTS = "REVISION"`: it removes what the program stopped using with that earlier step. A program that does not
  know that step no longer fits the tables.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.operations import Operations
from alembic.operations.ops import AddColumnOp, AlterColumnOp, CreateIndexOp, DropIndexOp, MigrateOperation
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, text

ROOT = Path(__file__).parents[2] / "migrations"
MODULES: dict[str, tuple[str, ...]] = {
    "shared": (
        "app.accounts.models",
        "app.mail.models",
        "app.problems.count_models",
        "app.alerts.setting",
        "app.host.backups.models",
    ),
    "host": ("app.host.models", "app.problems.models", "app.webhooks.models", "app.alerts.models"),
    "clock": ("app.clock.models", "app.long_acts.models"),
    "surveys": ("app.surveys.models", "app.surveys.anonymous.models"),
}
SHARED = "shared"
_INVALID = text(
    "SELECT EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisvalid"
    " AND c.relname = :name AND c.relnamespace = to_regnamespace(quote_ident(current_schema())))"
)


def config_of(module: str) -> Config:
    """What Alembic needs to know of a module's steps."""
    config = Config()
    config.set_main_option("script_location", str(ROOT))
    config.set_main_option("version_locations", str(ROOT / "versions" / module))
    config.set_main_option("path_separator", "os")
    config.attributes["module"] = module
    return config


def module_of(declaring: str) -> str | None:
    """The module whose tables the Python module `declaring` has; None when it has none.
    A name of MODULES may be a package."""
    return next(
        (one for one, names in MODULES.items() for name in names if f"{declaring}.".startswith(f"{name}.")),
        None,
    )


def version_table(module: str) -> str:
    """The table that says at which step a module of a schema is.
    It stands in the schema that the search path names first."""
    return f"migrations_{module}"


@cache
def revisions() -> dict[str, tuple[str, ...]]:
    """The steps of each module that this program knows, the newest first."""
    return {module: tuple(one.revision for one in Steps(module).after(None))[::-1] for module in MODULES}


def newest() -> dict[str, str]:
    """The newest step of each module that this program knows."""
    return {module: known[0] for module, known in revisions().items()}


def says(step: Script, what: str) -> Any:
    """What the file of a step says of the step."""
    return getattr(step.module, what, None)


class Steps:
    """A module's steps, read for one worker alone: `op` in them is a name of their file,
    and speaks to one connection at a time."""

    def __init__(self, module: str) -> None:
        # True when the step that was taken last may have made what the app's role needs rights on.
        self.may_have_made = False
        self._options = {"version_table": version_table(module)}
        self._scripts = ScriptDirectory.from_config(config_of(module))
        self._in_order: Sequence[Script] = [*self._scripts.walk_revisions()][::-1]

    def after(self, revision: str | None) -> Sequence[Script]:
        """Oldest first; all of them for None, where there are no tables yet."""
        known = [None, *(one.revision for one in self._in_order)]
        return self._in_order[known.index(revision) :]

    def current(self, connection: Connection) -> str | None:
        return MigrationContext.configure(connection, opts=self._options).get_current_revision()

    def take(self, connection: Connection, step: Script, *, by_itself: bool = False) -> bool:
        """Takes a step, or one slice of it. True when the step is done, which the version table then says. `by_itself`:
        each statement commits; otherwise all is in the caller's transaction."""
        context = MigrationContext.configure(connection, opts=self._options)
        vars(step.module)["op"] = operations = _Operations(context, by_itself=by_itself)
        more = step.module.upgrade() and says(step, "SLICED")
        self.may_have_made = operations.may_have_made
        if more:
            return False
        self._note(connection, context, step)
        if says(step, "CONTRACTS"):
            table = self._options["version_table"]
            connection.execute(text(f"COMMENT ON TABLE {table} IS '{FITS}{self._needed_after(step)}'"))
        return True

    def _needed_after(self, step: Script) -> str:
        """The step that a program must know once `step` is taken: the newest that any contraction names. The last
        contraction may name an older one."""
        order = [one.revision for one in self._in_order]
        taken = self._in_order[: order.index(step.revision) + 1]
        named: list[str] = [says(one, "CONTRACTS") for one in taken if says(one, "CONTRACTS")]
        return max(named, key=order.index)

    def _note(self, connection: Connection, context: MigrationContext, step: Script) -> None:
        """Notes that the step is taken. Raises RuntimeError when the tables are not at the step before it."""
        if step.down_revision is None:
            context.stamp(self._scripts, step.revision)
            return
        table, values = self._options["version_table"], {"now": step.revision, "before": step.down_revision}
        noted = text(f"UPDATE {table} SET version_num = :now WHERE version_num = :before")
        if connection.execute(noted, values).rowcount != 1:
            raise RuntimeError(f"{table} is not at {step.down_revision}")

    def take_all(self, connection: Connection) -> None:
        """Every step in the caller's transaction, for tables that others see only when it ends."""
        for step in self._in_order:
            while not self.take(connection, step):
                pass


# Before the step of a contraction, in the comment of the version table.
FITS = "fits programs that know "


# They make no object that has rights of its own.
_WITHIN_TABLES = (AddColumnOp, AlterColumnOp, CreateIndexOp, DropIndexOp)


class _Operations(Operations):
    """What `op` is in a step. In a transaction an index is built as usual: no program uses the table yet."""

    def __init__(self, context: MigrationContext, *, by_itself: bool) -> None:
        super().__init__(context)
        self._by_itself = by_itself
        self.may_have_made = False

    def get_bind(self) -> Connection:
        self.may_have_made = True
        return super().get_bind()

    def invoke(self, operation: MigrateOperation) -> Any:
        self.may_have_made |= not isinstance(operation, _WITHIN_TABLES)
        if isinstance(operation, CreateIndexOp | DropIndexOp):
            concurrently = operation.kw.pop("postgresql_concurrently", False)
            if concurrently and self._by_itself:
                self._take_up(operation)
        return super().invoke(operation)

    def _take_up(self, operation: CreateIndexOp | DropIndexOp) -> None:
        """After a killed run the index is there already: complete, or invalid."""
        operation.kw["postgresql_concurrently"] = True
        if isinstance(operation, DropIndexOp):
            operation.if_exists = True
            return
        operation.if_not_exists = True
        if self.get_bind().scalar(_INVALID, {"name": operation.index_name}):
            self.execute(f'DROP INDEX CONCURRENTLY "{operation.index_name}"')
