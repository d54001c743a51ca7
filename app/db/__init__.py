"""The database: engine and sessions, the base of all models, migrations, and the embedded PostgreSQL.

connecting.py finds the right one of several database servers, and asks the next one when one is silent. pool.py keeps
the connections, session.py opens transactions in a workspace, committing.py ends them. migrate.py, upgrading.py and
steps.py bring tables up to date. embedded.py and cluster/ run the bundled PostgreSQL, replica.py reads from a standby.
"""
