"""All kinds of the host, as its module hands them over."""

from app.host.problem_kinds import failed_jobs, mail_failing
from app.problems.kinds import ProblemSource

PROBLEMS = ProblemSource((*failed_jobs.FAILED_KINDS, mail_failing.MAIL_KIND), (failed_jobs.FAILED, mail_failing.MAIL))
