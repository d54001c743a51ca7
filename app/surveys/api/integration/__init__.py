"""The results of surveys for other programs: the surveys' part of the integration API. It only reads."""

from app.surveys.api.integration import ratings, responses, results, surveys

ROUTES = (surveys.surveys, results.results, responses.survey_responses, ratings.app_ratings)
ENDPOINTS = (surveys.ENDPOINT, results.ENDPOINT, responses.ENDPOINT, ratings.ENDPOINT)
