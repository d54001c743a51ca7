"""All kinds of the host, as its module hands them over."""

from app.host.problem_kinds import backup_overdue, failed_jobs, failing_webhooks, keys, mail_failing, workers
from app.problems.kinds import ProblemSource

PROBLEMS = ProblemSource(
    (
        *failed_jobs.FAILED_KINDS,
        *workers.WORKER_KINDS,
        *keys.KEY_KINDS,
        backup_overdue.BACKUP,
        mail_failing.MAIL_KIND,
        failing_webhooks.FAILING,
    ),
    (
        failed_jobs.FAILED,
        *workers.WORKERS,
        backup_overdue.LAST_CALL,
        mail_failing.MAIL,
        failing_webhooks.FAILING_WEBHOOKS,
    ),
)
