"""All kinds of the host, as its module hands them over."""

from app.host.problem_kinds import failed_jobs
from app.problems.kinds import ProblemSource

PROBLEMS = ProblemSource(failed_jobs.FAILED_KINDS, (failed_jobs.FAILED,))
