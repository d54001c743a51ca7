"""Alembic's entry, for drafts of steps alone (app.db.draft): runs on the connection that it hands over, whose search
path names the schema. Steps are taken by app.db.steps.

`version_table_schema` stays unset on purpose: with it, autogenerate would drop its own table.
"""

from importlib import import_module

from alembic import context

from app.db.base import Base
from app.db.steps import MODULES, module_of, version_table

module = context.config.attributes["module"]
for names in MODULES.values():
    for name in names:
        import_module(name)
own_tables = {
    mapper.local_table.name for mapper in Base.registry.mappers if module_of(mapper.class_.__module__) == module
}

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=version_table(module),
    include_name=lambda name, kind, _: kind != "table" or name in own_tables,
    include_object=lambda _item, name, kind, *_: kind != "table" or name in own_tables,
    compare_type=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
