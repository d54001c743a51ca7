"""The database: engine and sessions, the base of all models, migrations, and the embedded PostgreSQL."""
