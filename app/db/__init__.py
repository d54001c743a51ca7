"""The database: engine and sessions, the base of all models, migrations, and the embedded PostgreSQL.

session.py opens transactions in a workspace. migrate.py, upgrading.py and steps.py bring tables up to date.
embedded.py, cluster.py and cluster_home.py run the bundled PostgreSQL, replica.py reads from a standby.
"""
