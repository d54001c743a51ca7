"""Where a signature says `Any`. It may for a row of the database and for JSON,
and the name of the parameter says which of them it is."""

import ast
from collections.abc import Iterator

# Parameters that are a row: of a statement or of a table, read with the columns that the function names.
ROWS = {
    "account", "device", "host", "item", "one", "passkey", "person", "punch", "record", "role", "row", "run", "survey", "tenant",
    "token", "user",
}  # fmt: skip
# JSON, as it came or as it is stored; a value of a column that holds JSON; what a form posted.
JSON = {"cell", "data", "document", "given", "kept", "node", "posted", "raw", "sent", "value"}


# Modules in which such an `Any` is left. The list only shrinks: one name a line, sorted, so that branches merge.
STILL_LOOSE = [
    "app.accounts.accounts",
    "app.accounts.audit",
    "app.accounts.roles",
    "app.accounts.tenants",
    "app.api.methods",
    "app.api.openapi",
    "app.api.parameters",
    "app.api.reference",
    "app.bodies",
    "app.catcher.mailbox",
    "app.clock.api.routes",
    "app.clock.api.rows",
    "app.clock.bindings.actions",
    "app.clock.figures.dashboard",
    "app.clock.mirror.devices",
    "app.clock.mirror.organization",
    "app.clock.mirror.punch_rows",
    "app.clock.mirror.set_aside",
    "app.clock.pages.analytics_charts",
    "app.clock.pages.connecting",
    "app.clock.pages.dashboard",
    "app.clock.pages.device_list",
    "app.clock.remote.session",
    "app.clock.review.why",
    "app.commands.clock",
    "app.commands.clock_runs",
    "app.db.direct",
    "app.db.session",
    "app.db.steps",
    "app.host.pages.admin.account",
    "app.host.problem_kinds.failed_jobs",
    "app.logs",
    "app.long_acts.over_lists",
    "app.mail.sending",
    "app.mail.unsubscribing",
    "app.moving.tables",
    "app.outbound.calls",
    "app.outbound.strict_json",
    "app.problems.kinds",
    "app.problems.queries",
    "app.sealed",
    "app.simulator.application",
    "app.simulator.rows",
    "app.surveys.anonymous.casting",
    "app.surveys.api.integration.results",
    "app.surveys.api.mine",
    "app.surveys.authoring.differences",
    "app.surveys.authoring.file_translations",
    "app.surveys.ledger.evidence",
    "app.surveys.ledger.translated_answers",
    "app.surveys.ledger.verifying_keys",
    "app.surveys.pages.me.answers",
    "app.surveys.pages.prompt_form",
    "app.surveys.pages.view",
    "app.surveys.pages.why",
    "app.surveys.ratings.ratings",
    "app.surveys.reminding.waiting",
    "app.surveys.results.queries",
    "app.surveys.results.splits",
    "app.surveys.results.tallies",
    "app.web.context",
    "app.web.edits",
    "app.web.forms",
    "app.web.gate",
    "app.web.list_spec",
    "app.web.sessions",
    "app.web.transport.streams",
    "workers.settings",
]


def loose(tree: ast.Module) -> Iterator[str]:
    """Each `Any` by itself in a signature that is neither: `function(parameter)`, or `function()` for what is returned.

    `dict[str, Any]` and the like say themselves that they are rows or JSON,
    `**values: Any` that they are named values."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (f"{function.name}({name})" for name in _loose_parameters(function))
            if _is_any(function.returns) and not _builds_on_rows(function):
                yield f"{function.name}()"


def _loose_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    given = function.args
    for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        name = one.arg.strip("_")
        if _is_any(one.annotation) and name and name not in ROWS | JSON:
            yield one.arg


def _is_any(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation) in ("Any", "Any | None")


def _builds_on_rows(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """What it returns comes out of a row or JSON that it was given."""
    return any(_is_any(one.annotation) for one in (*function.args.args, *function.args.kwonlyargs))
