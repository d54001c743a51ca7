"""The bundled PostgreSQL on disk: where a cluster lies, as which system user it runs, and its server.

app/db/embedded.py says who uses the server, and for how long.
"""
