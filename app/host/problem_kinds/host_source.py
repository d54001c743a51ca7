"""All kinds of the host, as its module hands them over."""

from app.host.problem_kinds import failed_jobs, failing_webhooks, mail_failing
from app.problems.kinds import ProblemSource

PROBLEMS = ProblemSource(
    (*failed_jobs.FAILED_KINDS, failing_webhooks.FAILING, mail_failing.MAIL_KIND),
    (failed_jobs.FAILED, failing_webhooks.FAILING_WEBHOOKS, mail_failing.MAIL),
)
