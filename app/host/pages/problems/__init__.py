"""`/problems`: what a person should do, in one list. What a problem is, and how it opens and closes: app/problems.

page.py shows the list and one problem, problem_list.py says which rows and columns it has, problem_acts.py carries out
what people do.
"""

from litestar.types import ControllerRouterHandler

from app.host.pages.problems import page, problem_acts

ROUTES: list[ControllerRouterHandler] = [*page.ROUTES, *problem_acts.ROUTES]
LONG_ACTS = tuple(problem_acts.LONG.values())
