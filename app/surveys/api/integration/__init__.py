"""What surveys came to, for other programs: the surveys' part of the integration API. It only reads."""

from app.surveys.api.integration import results, surveys

ROUTES = (surveys.surveys, results.results)
ENDPOINTS = (surveys.ENDPOINT, results.ENDPOINT)
