"""The integration API: its routes, rows, paging and document."""
