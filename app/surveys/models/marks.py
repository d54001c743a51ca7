"""Marks of tables, for the rights of the app's role (app.db.rights)."""

APPEND_ONLY = {"info": {"append_only": True}}
ONE_ROW = {"info": {"one_row": True}}
