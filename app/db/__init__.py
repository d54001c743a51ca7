"""The database: engine and sessions, the base of all models, migrations, and the embedded PostgreSQL.

connecting.py finds the right one of several database servers, and asks the next one when one is silent. pool.py keeps
the connections, session.py opens transactions in a workspace. migrate.py starts an upgrade,
upgrading.py takes its steps beside a running program (how long a step waits for a lock, when it is tried again),
steps.py knows the steps and takes one, index_waits.py names the transaction for which an index waits. embedded.py and
cluster/ run the bundled PostgreSQL, replica.py reads from a standby.
"""
