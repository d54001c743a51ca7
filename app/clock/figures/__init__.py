"""Numbers about the mirror: how complete it is, what the dashboard and the analytics show. Reads only."""
