"""What can be asked of a filled workspace (houses.py): the addresses of its pages, APIs and exports,
each with a name."""

from datetime import UTC, date, datetime, timedelta

from tests.benchmarks import bench_lists, bench_results


def pages(survey: str, today: date) -> dict[str, str]:
    month = f"from={today - timedelta(days=60)}&to={today - timedelta(days=31)}"
    day = today - timedelta(days=40)
    punches = {f"punches: {name}": f"/clock_transactions?{query}" for name, query in bench_lists.PAGES.items()}
    surveys = {
        f"surveys: {name}": url
        for name, url in bench_results.pages(survey, "").items()
        if "receipt" not in url and name != "response"
    }
    return {
        **punches,
        "punches: one of a record": "/clock_transactions?record=77",
        "punches: settled": "/clock_transactions?settled=yes",
        "punches: gone": "/clock_transactions?gone=all",
        "punches: gone, open": "/clock_transactions?gone=open",
        "punches: ignored": "/clock_transactions?ignored=only",
        "punches: without the ignored": "/clock_transactions?ignored=hide",
        "punches: waiting": "/clock_transactions?group=waiting",
        "punches: two groups": "/clock_transactions?group=waiting&group=needs_person",
        "punch": "/clock_transactions/500",
        "dashboard": "/clock",
        "analytics": "/clock_analytics",
        "analytics, a year": f"/clock_analytics?from={today - timedelta(days=364)}&to={today}",
        "devices": "/clock_devices",
        "device": "/clock_devices/3",
        "clock people": "/clock_employees",
        "clock people: waiting": "/clock_employees?waiting=1",
        "clock person": "/clock_employees/42",
        "clock people: to bind": "/clock_employees/hosts?q=person",
        "organization": "/clock_organization",
        "sync center": "/clock_sync",
        "sync center, deep": "/clock_sync?page=9000",
        "sync center: failed": "/clock_sync?status=failed",
        "run": "/clock_sync/runs/2",
        "logs": "/clock_logs",
        "logs, deep": "/clock_logs?page=9000",
        "logs: code": "/clock_logs?code=TC-RATE",
        "settings": "/clock_settings",
        **surveys,
        "why a person is asked": f"/surveys/view/{survey}/why",
        "who has not answered": f"/surveys/waiting/{survey}",
        "own answers": "/me/answers",
        "own questions": "/me/questions",
        "ratings": "/surveys/ratings",
        "ratings, deep": "/surveys/ratings?page=9000",
        "ratings: stars": "/surveys/ratings?stars=1",
        "attendance": "/attendance",
        "attendance, deep": "/attendance?page=9000",
        "attendance: a month": f"/attendance?{month}",
        "attendance: pending": "/attendance?status=pending",
        "attendance: still open": "/attendance?open=1",
        "attendance: search": "/attendance?q=person+42",
        "attendance: by name": "/attendance?sort=name",
        "attendance: by hours": "/attendance?sort=-worked_hours",
        "attendance: edited": "/attendance?edited=1",
        "attendance: days": "/attendance/days",
        "attendance: a day": f"/attendance/days/{day}",
        "attendance: people": "/attendance/people",
        "attendance: a person": "/attendance/people/42",
        "attendance: a person's month": f"/attendance/people/42?{month}",
        "attendance: whom to choose": "/attendance/people/options?q=person",
        "attendance: locks": "/attendance/locks",
        "record": "/attendance/301",
        "people": "/people",
        "person": "/people/42",
        "kiosk": "/kiosk",
        "apps": "/apps",
        "app": "/apps/3",
        "problems": "/problems",
        "problems: one kind": "/problems?kind=only_one_punch",
        "problems: closed": "/problems?state=closed",
        "problems: closed, deep": "/problems?state=closed&page=150",
        "problems: words": "/problems?q=horvat+77",
        "problem": "/problems/77",
        "webhooks": "/webhooks",
        "webhook": "/webhooks/1",
        "webhooks: calls": "/webhooks/log",
        "webhooks: calls, deep": "/webhooks/log?page=9000",
        "webhooks: failed calls": "/webhooks/log?result=failed",
        "webhooks: calls of one": "/webhooks/log?webhook=2",
        "webhooks: searched call": "/webhooks/log?q=msg_77",
        "webhooks: call": "/webhooks/log/77",
        "audit": "/admin/audit",
        "audit, deep": "/admin/audit?page=900",
        "audit: act": "/admin/audit?act=person.deactivate",
        "audit: person": "/admin/audit?person=B",
        "audit: who": "/admin/audit?actor=B",
        "audit: by": "/admin/audit?by=person",
        "audit: on": "/admin/audit?subject=attendance+77",
        "audit: a month": f"/admin/audit?{month}",
        "audit: entry": "/admin/audit/77",
        "jobs": "/admin/jobs",
        "jobs, deep": "/admin/jobs?page=9000",
        "jobs: failed": "/admin/jobs?status=failed",
        "users": "/admin/users",
        "tokens": "/admin/tokens",
        "backups": "/admin/backups",
        "account": "/account",
        "tenants": "/admin/tenants",
        "metrics": "/metrics",
        "home": "/",
        "palette": "/palette?q=person",
    }  # fmt: skip


def apis(survey: str, today: date) -> dict[str, str]:
    week = datetime.now(UTC) - timedelta(days=7)
    since = week.isoformat().replace("+00:00", "Z")
    clock = "/api/v1/clock"
    punches = {f"API: {name}": f"{clock}/transactions?{query}" for name, query in bench_lists.API.items()}
    summary = f"{clock}/analytics/summary?from={today - timedelta(days=29)}&to={today}"
    return {
        **punches,
        "API: followed": f"{clock}/transactions?updated_since={since}",
        "API: followed from the start": f"{clock}/transactions?updated_since=2001-01-01T00:00:00Z",
        "API: status": f"{clock}/status",
        "API: analytics": summary,
        "API: bindings": f"{clock}/bindings",
        "API: people": f"{clock}/employees",
        "API: devices": f"{clock}/devices",
        "API: runs": f"{clock}/sync-runs",
        "API: attendance": "/api/v1/attendance",
        "API: attendance, followed": f"/api/v1/attendance?updated_since={since}",
        "API: problems": "/api/v1/problems",
        "API: problems, followed": f"/api/v1/problems?updated_since={since}",
        "API: surveys": "/api/v1/surveys",
        "API: survey's figures": f"/api/v1/surveys/{survey}/results",
        "API: responses": "/api/v1/surveys/responses",
        "API: responses of a survey": f"/api/v1/surveys/responses?survey={survey}",
        "API: responses, followed": f"/api/v1/surveys/responses?updated_since={since}",
        "API: ratings": "/api/v1/ratings",
        "API: own surveys": "/v1/api/me/surveys",
        "API: own answers": "/v1/api/me/responses",
        "API: own apps": "/v1/api/me/apps",
    }


def exports(today: date) -> dict[str, str]:
    month = f"from={today - timedelta(days=60)}&to={today - timedelta(days=31)}"
    return {
        "punches": "/clock_transactions?export=csv",
        "punches, a month": f"/clock_transactions?export=csv&{month}",
        "punches, rare outcome": "/clock_transactions?export=csv&outcome=overlaps",
        "punches, name": "/clock_transactions?export=csv&q=horvat",
        "punches, JSON Lines": "/clock_transactions?export=jsonl",
        "attendance": "/attendance?export=csv",
        "attendance, a person": "/attendance/people/42?export=csv",
        "responses": "/surveys/responses?export=csv",
        "ratings": "/surveys/ratings?export=csv",
        "audit": "/admin/audit?export=csv",
        "logs": "/clock_logs?export=csv",
        "jobs": "/admin/jobs?export=csv",
    }  # fmt: skip
