"""What the host offers in the integration API."""

from app.host.api import problems

ROUTES = (problems.problems,)
ENDPOINTS = (problems.ENDPOINT,)
