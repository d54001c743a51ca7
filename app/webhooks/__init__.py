"""Webhooks: what changed in a workspace is noted in the transaction of the change; a worker makes events of it and sends those to
the endpoints that want them, as Standard Webhooks describes. The rooms above say what a change is."""
