"""Numbers that have to stay in step, where the code cannot take the one from the other: layers lie between them, or one
is a setting, a file that is not Python, or a bound with room to spare."""

import re
from datetime import UTC, datetime, timedelta

import click

from app import doctor, jobs, parts
from app.accounts import housekeeping, schedule_looks
from app.clock import settings as clock_settings
from app.clock.api.people import BindingRow
from app.clock.bindings.matching import KEPT_CANDIDATES
from app.clock.days import CHECK_DAYS, CLOCKS_APART, LONGEST_OFFSET
from app.clock.figures import dashboard, status
from app.clock.importing import import_due, preview
from app.clock.pairing import overlaps, shifts
from app.clock.review import using_many
from app.clock.settings import BOUNDS
from app.commands import children, serve
from app.commands.clock_runs import clock_sync
from app.config import read_settings
from app.host.applications import icons
from app.host.attendance.hours import INSTANT, LONGEST
from app.host.models import AppRating
from app.registry import modules
from app.surveys.authoring import files
from app.surveys.words import MOST_STARS
from app.web import sessions
from app.web.transport import body
from app.worker_pace import PACE
from tests.cluster import ROOT
from workers import cancelling
from workers.schedule import TICK


def longest(name: str) -> timedelta:
    """The most that a setting of the clock may be; its name ends with the unit."""
    return timedelta(**{name.rsplit("_", 1)[1]: BOUNDS[name][1]})


def test_no_setting_folds_further_than_a_fold_with_a_record_is_followed() -> None:
    assert longest("double_tap_minutes") == shifts.FOLDS_REACH
    assert longest("repeat_tap_seconds") <= shifts.FOLDS_REACH


def test_no_setting_makes_pairing_reach_further_than_it_is_read_and_marked() -> None:
    assert longest("undirected_max_hours") == shifts.DAY
    assert longest("shift_gap_hours") + shifts.DAY <= shifts.REACH
    assert longest("undirected_min_minutes") < shifts.DAY


def test_employees_are_held_as_far_around_a_punch_as_its_shift_and_records_reach() -> None:
    assert using_many.AROUND >= LONGEST + 4 * shifts.REACH


def test_a_record_without_a_clock_out_covers_the_same_instant_for_pairing_and_for_the_host() -> None:
    at = datetime(2026, 1, 5, 8, tzinfo=UTC)
    assert overlaps.Covered(1, at, None).end - at == INSTANT


def test_two_clocks_are_at_most_as_far_apart_as_both_may_be_from_utc() -> None:
    assert 2 * LONGEST_OFFSET <= CLOCKS_APART < 2 * LONGEST_OFFSET + timedelta(days=1)


def test_a_retention_keeps_every_day_that_a_page_or_a_check_looks_back_on() -> None:
    assert (
        max(CHECK_DAYS, dashboard.BAR_DAYS, dashboard.PERSON_DAYS, status.OUTCOME_DAYS, preview.DAYS)
        < clock_settings.SHORTEST_RETENTION_DAYS
    )


def test_the_job_of_a_run_lasts_as_long_as_the_largest_budget_and_the_import_after_it() -> None:
    assert jobs.KINDS["clock_sync"].timeout >= longest("run_budget_seconds") + jobs.KINDS["clock_import"].timeout


def test_the_command_takes_the_budgets_that_the_setting_takes() -> None:
    option = next(one for one in clock_sync.params if one.name == "budget_seconds")
    assert isinstance(option.type, click.IntRange)
    assert (option.type.min, option.type.max) == BOUNDS["run_budget_seconds"]


def test_the_document_of_the_api_has_room_for_every_candidate_that_is_kept() -> None:
    bound = re.search(r"max_length=(\d+)", str(BindingRow.__annotations__["candidates"]))
    assert bound is not None
    assert int(bound[1]) >= 2 * KEPT_CANDIDATES  # free ones and taken ones


def test_a_process_that_is_asked_to_end_has_done_so_before_its_parent_insists() -> None:
    drain_s = read_settings({}).drain_s
    assert drain_s == 5
    assert "`serve` continues for five seconds" in (ROOT / "docs" / "operate.md").read_text()
    assert drain_s + serve.GRACE_S < children.END_WAIT_S
    assert cancelling.GIVING_BACK_S < children.END_WAIT_S
    assert cancelling.CANCELLED_S < cancelling.GIVING_BACK_S


def test_a_worker_has_the_connections_that_its_jobs_hold() -> None:
    assert import_due.PARALLEL <= parts.OF_A_JOB


def test_a_worker_misses_two_signs_of_life_before_it_counts_as_dead() -> None:
    assert 2 * PACE.beat_s < PACE.stale_s
    assert timedelta(seconds=PACE.stale_s + PACE.look_s) < jobs.WORKER_SILENT_AFTER < doctor.SILENT_AFTER


def test_ended_jobs_are_kept_for_as_long_as_somebody_asks_about_them() -> None:
    a_day = timedelta(days=1)  # of the daily requests, and of the failed jobs that the doctor counts
    assert a_day <= jobs.ENDED_KEPT
    assert housekeeping.WORKERS_KEPT > jobs.WORKER_SILENT_AFTER


def test_the_gate_takes_every_file_that_a_form_takes() -> None:
    assert max(files.LARGEST_FILE, icons.LARGEST) < body.LARGEST


def test_the_database_takes_the_stars_that_the_form_offers() -> None:
    checks = [str(one.sqltext) for one in AppRating.__table__.constraints if hasattr(one, "sqltext")]
    assert f"rating BETWEEN 1 AND {MOST_STARS}" in checks


def test_the_health_check_of_the_image_ends_by_itself() -> None:
    text = (ROOT / "Dockerfile").read_text()
    allowed, asked = re.search(r"--timeout=(\d+)s", text), re.search(r"timeout=(\d+)\)", text)
    assert allowed is not None
    assert asked is not None
    assert int(asked[1]) < int(allowed[1])


def test_a_tick_of_the_schedule_ends_by_itself_before_the_queue_ends_it() -> None:
    longest_look_s = TICK.look_s * len(modules())
    source = (ROOT / "workers" / "settings.py").read_text()
    allowed = re.search(r'cron="\* \* \* \* \*", timeout=(\d+)', source)
    assert allowed is not None
    assert TICK.lasts_s + longest_look_s < int(allowed[1])
    assert TICK.lasts_s + schedule_looks.LEAST_PAUSE.total_seconds() < 60


def test_the_sign_in_page_names_the_time_without_activity_that_signs_out() -> None:
    assert f"after {sessions.IDLE // timedelta(minutes=1)} minutes " in sessions.LEFT_IDLE
