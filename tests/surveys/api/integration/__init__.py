"""The surveys in the integration API."""
