"""Which steps under migrations/ would stop a portal that serves meanwhile, or one of the version before:
read off their syntax trees.

docs/operate.md says the rules to people, under *Steps that let the version before run*.
Steps that the version before knows are past.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests import version_before

# They grow with every punch, answer, request or act: what reads or sorts all their rows takes minutes.
BIG = {
    "attendance_records", "audit_entries", "clock_api_logs", "clock_transactions", "jobs", "survey_answers", "survey_changes",
    "survey_prompt_state", "survey_responses",
}  # fmt: skip
LEDGER = {
    "survey_responses",
    "survey_changes",
    "survey_answers",
    "survey_wordings",
    "survey_tombstones",
    "survey_ledger_head",
    "audit_entries",
}
CONTRACTS = {"drop_column", "drop_table", "drop_constraint", "rename_table"}
# A step waits a quarter of a second for each lock and keeps those that it has,
# so that no request waits for more than a second.
MOST_TABLES = 3
_LOCKS_ITS_FIRST = {"add_column", "alter_column"}
_LOCKS_ITS_SECOND = {"create_index", "create_check_constraint", "create_foreign_key", "create_unique_constraint"}
_TAKES_AWAY = re.compile(r"\b(DROP\s+(COLUMN|TABLE|CONSTRAINT)|RENAME)\b", re.IGNORECASE)
_REWRITES = re.compile(
    r"\bTYPE\b.*\bUSING\b|\bALTER\s+COLUMN\b.*\bTYPE\b|\bVACUUM\s+FULL\b|\bCLUSTER\b|\bLOCK\s+TABLE\b",
    re.IGNORECASE | re.DOTALL,
)
_INDEXES = re.compile(r"\b(CREATE\s+(UNIQUE\s+)?|DROP\s+)INDEX\b", re.IGNORECASE)
_CHANGES = re.compile(r"\b(?:UPDATE|DELETE\s+FROM)\s+(?:ONLY\s+)?(?:\w+\.)?(\w+)", re.IGNORECASE)
# Computed for each row, so that every row is written again.
_VOLATILE = re.compile(r"clock_timestamp|gen_random_uuid|random\(|nextval", re.IGNORECASE)


def problems(text: str) -> list[str]:
    """What in a step locks a table for longer than a moment, or takes away what the version before still uses. What a
    step may say of itself is explained in app/db/steps.py."""
    tree = ast.parse(text)
    names = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    contracts, concurrent = names.get("CONTRACTS") is not None, names.get("CONCURRENT") is True
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = {_word(call.args[0], names) for call in calls if _verb(call) == "create_table"}
    # A check that comes back in the same step was made wider: the version before writes nothing that it refuses.
    remade = {ast.unparse(call.args[0]) for call in calls if _verb(call) == "create_check_constraint"}
    calls = [one for one in calls if _verb(one) != "drop_constraint" or ast.unparse(one.args[0]) not in remade]
    found = [one for call in calls for one in _of_call(call, names, made, contracts=contracts)]
    found += [*_of_indexes(calls, concurrent=concurrent), *_of_locks(calls, names, made)]
    statements = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    sliced = names.get("SLICED") is True
    return found + [one for text in statements for one in _of_statement(text, made, contracts=contracts, sliced=sliced)]


def _of_indexes(calls: list[ast.Call], *, concurrent: bool) -> Iterator[str]:
    """Outside a transaction a step that fails in its middle would leave half of what it does."""
    for call in calls:
        verb, given = _verb(call), {one.arg: ast.unparse(one.value) for one in call.keywords}
        beside = verb in ("create_index", "drop_index") and given.get("postgresql_concurrently") == "True"
        if beside and not concurrent:
            yield "postgresql_concurrently=True only works outside a transaction: CONCURRENT = True in a step of its own"
        elif concurrent and verb and verb != "f" and not beside:
            yield f"{verb}: a step with CONCURRENT = True only builds and drops indexes with postgresql_concurrently=True"


def _of_locks(calls: list[ast.Call], names: dict[str, object], made: set[str]) -> Iterator[str]:
    tables = {
        _word(call.args[place], names) or ast.unparse(call.args[place])
        for call in calls
        for verbs, place in ((_LOCKS_ITS_FIRST, 0), (_LOCKS_ITS_SECOND, 1))
        if _verb(call) in verbs
    }
    if len(tables - made) > MOST_TABLES:
        yield f"locks {len(tables - made)} tables that are in use: make a step of each"


def _of_call(call: ast.Call, names: dict[str, object], made: set[str], *, contracts: bool) -> Iterator[str]:
    verb, given = _verb(call), {one.arg: ast.unparse(one.value) for one in call.keywords}
    words = [_word(one, names) for one in call.args]
    match verb:
        case "add_column":
            yield from _of_column(call.args[1])
        case "alter_column":
            if "type_" in given:
                yield "ALTER TYPE writes every row again: add a column, fill it in slices, drop the old one a release later"
            if given.get("nullable") == "False":
                yield "SET NOT NULL reads every row: add a CHECK that is NOT VALID, validate it, then set it"
            if "new_column_name" in given:
                yield "a renamed column is missing for the version before: add one, and drop the old one a release later"
        case "create_index" if words[1] in BIG - made and given.get("postgresql_concurrently") != "True":
            yield f"an index over {words[1]} stops writing to it: postgresql_concurrently=True"
        case (
            "create_check_constraint" | "create_foreign_key" | "create_unique_constraint" | "create_exclude_constraint"
        ):
            if words[1] in BIG - made and given.get("postgresql_not_valid") != "True":
                yield f"a constraint on {words[1]} reads every row under a lock: postgresql_not_valid=True, then VALIDATE"
        case _ if verb in CONTRACTS and not contracts:
            yield f"{verb}: the version before still uses it; do it a release later, with CONTRACTS = the step that gave it up"


def _of_column(column: ast.expr) -> Iterator[str]:
    given = {one.arg: ast.unparse(one.value) for one in column.keywords} if isinstance(column, ast.Call) else {}
    default = given.get("server_default")
    if given.get("nullable") == "False" and default is None:
        yield "a column that is NOT NULL without a default: the version before cannot add rows"
    if default and _VOLATILE.search(default):
        yield "a default that is computed for each row writes every row again: add it empty, fill it in slices"
    if "Identity" in ast.unparse(column) or "Computed" in ast.unparse(column):
        yield "a computed column writes every row again"


def _of_statement(text: str, made: set[str], *, contracts: bool, sliced: bool) -> Iterator[str]:
    if _REWRITES.search(text):
        yield f"writes a table again, or locks it: {text.strip()[:60]}"
    if _INDEXES.search(text):
        yield f"an index is built and dropped by op.create_index and op.drop_index: {text.strip()[:60]}"
    if re.search(r"\bALTER\s+TABLE\b", text, re.IGNORECASE) and _TAKES_AWAY.search(text) and not contracts:
        yield f"takes away what the version before still uses: {text.strip()[:60]}"
    for table in _CHANGES.findall(text):
        if table in LEDGER:
            yield f"{table}: a row of a ledger is never written again"
        elif table in BIG - made and not (sliced and re.search(r"\bLIMIT\b", text, re.IGNORECASE)):
            yield f"{table}: changes all rows in one transaction; change some at a time with SLICED = True, or mark them for a job"


def _verb(call: ast.Call) -> str:
    of_op = (
        isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "op"
    )
    return call.func.attr if of_op and isinstance(call.func, ast.Attribute) else ""


def _word(node: ast.expr, names: dict[str, object]) -> str:
    """A text, or what a name at the top of the file stands for."""
    found = names.get(node.id) if isinstance(node, ast.Name) else getattr(node, "value", None)
    return found if isinstance(found, str) else ""


def later(module: str, folder: Path) -> list[Path]:
    """The steps of a module since the version before, in any order."""
    revisions = {_value(path, "revision"): path for path in folder.glob("*.py")}
    past, at = set[str](), version_before.NEWEST[module]
    while at:
        past.add(at)
        at = _value(revisions[at], "down_revision")
    return [path for revision, path in revisions.items() if revision not in past]


def _value(path: Path, name: str) -> str:
    found = re.search(rf'(?m)^{name}\b.*?= "(\w+)"', path.read_text())
    return found[1] if found else ""
