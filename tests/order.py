"""In which order and by how many processes the suite is run:
files that take long begin first, and every other test waits."""

import inspect
import os
import re
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

# A file is run by one process, which takes the next one when it is through. What takes longest stands at the top, so
# that nothing long is left for the end; what waits for processes and what keeps a core busy take turns.
LONG = (
    "browser/test_pages.py",
    "test_cli_serve.py",
    "upgrade/test_side_by_side.py",
    "faults/test_kill.py",
    "browser/test_flows.py",
    "db/test_embedded.py",
    "test_odd_requests.py",
    "gallery/test_gallery.py",
    "test_jobs.py",
    "clock/api/test_fuzz.py",
    "clock/connection/test_saved.py",
    "clock/sync/test_sync_faults.py",
    "outbound/test_client.py",
    "clock/sync/test_run.py",
    "clock/bindings/test_actions.py",
    "clock/pages/test_transactions.py",
    "test_cli_clock.py",
    "test_cli.py",
)
_TESTS = Path(__file__).parent
_MOST = 8
# Every test that asks for a database has one of these behind it.
_DATABASE = {"cluster", "own_cluster"}
# What these ask about lies on this side of the database: what is typed, what a client or a proxy does, what a
# time-clock server says, how a process begins and ends, and what it takes of memory.
# What they store on the way, others store as well.
THIS_SIDE = (
    "clock/sync/test_sync_faults.py",
    "deploy/test_proxies.py",
    # The product without a planted bug is killed there too; that the look catches one is shown here.
    "faults/test_kill.py::test_a_planted_bug_is_caught_by_the_same_look",
    "moving/test_memory.py",
    "test_cli_odd_input.py",
    "test_cli_serve.py",
    "test_ways.py",
    "web/test_gate.py",
    "web/test_head.py",
    "web/test_refusals.py",
    "web/test_way_back.py",
    "web/transport/",
)
# The tests in these folders ask for pages and answers one by one. What each of them asks of the database is asked
# beside another server too: by test_odd_requests, which opens every page, sends every form and asks every address for
# programs, by test_flat_reads and test_routes, and by the tests of the rooms below them.
PAGES = {"pages", "api"}
# All but these. They ask what another version or role may answer otherwise and nothing else asks: which transactions
# are open, who of several that come at once waits and who is refused, and who may end a session.
IN_PAGES = (
    "clock/api/test_attendance.py",
    "clock/api/test_following.py",
    "host/pages/admin/test_account.py::test_of_two_who_send_the_same_code_one_comes_in",
    "host/pages/admin/test_passkeys.py::test_one_that_is_added_at_the_very_moment_waits_and_is_refused",
    "host/pages/admin/test_tenant_administrators.py::test_of_two_who_make_the_first_one_at_once_the_second_is_told",
    "host/pages/admin/test_tenant_administrators.py::test_who_sends_the_form_while_another_one_is_being_made_waits_and_is_told",
    "host/pages/admin/test_users.py::test_two_administrators_who_demote_each_other_at_once_do_not_both_win",
    "host/pages/test_problems.py::test_the_places_of_many_problems_are_offered_without_reading_each",
    "surveys/api/integration/test_responses.py",
    "surveys/api/test_apps.py::test_of_four_identical_posts_at_once_one_is_made",
    "surveys/api/test_lost_server.py",
    "surveys/api/test_my_answers.py::test_to_and_fro_at_once_beside_a_new_version_and_an_erasure_leave_one_chain",
    "surveys/api/test_my_answers.py::test_two_tabs_leave_one_change",
)
# What these files send to the database, others send as well: the statements of each test were written down, without
# their values, and all of theirs were among those of the files that stay. A new file stays.
SAME_STATEMENTS = (
    "accounts/test_one_time_links.py",
    "clock/bindings/test_actions.py",
    "clock/bindings/test_undoing.py",
    "clock/connection/test_shared_session.py",
    "clock/figures/test_earlier.py",
    "clock/importing/test_import_due.py",
    "clock/importing/test_judged_again.py",
    "clock/mirror/test_gone.py",
    "clock/mirror/test_listing_rows.py",
    "clock/mirror/test_punch_edits.py",
    "clock/mirror/test_shortfalls.py",
    "clock/punches/test_marks.py",
    "clock/punches/test_marks_in_stories.py",
    "clock/punches/test_missing_marks.py",
    "clock/punches/test_rebinding.py",
    "clock/review/test_decisions.py",
    "clock/review/test_fixes.py",
    "clock/review/test_settling.py",
    "clock/review/test_why.py",
    "clock/sync/test_import_counts.py",
    "clock/sync/test_run.py",
    "clock/sync/test_rush_hour.py",
    "host/people/test_people_import.py",
    "host/test_odd_input.py",
    "problems/test_of_the_platform.py",
    "problems/test_sweeping.py",
    "surveys/anonymous/test_answering.py",
    "surveys/asking/test_languages.py",
    "surveys/asking/test_open_surveys.py",
    "surveys/asking/test_order_of_checks.py",
    "surveys/asking/test_queue.py",
    "surveys/asking/test_responding.py",
    "surveys/asking/test_words_met.py",
    "surveys/authoring/test_actions.py",
    "surveys/authoring/test_anonymity.py",
    "surveys/authoring/test_new_versions.py",
    "surveys/authoring/test_stale_forms.py",
    "surveys/authoring/test_translating.py",
    "surveys/demo/test_seed.py",
    "surveys/ledger/test_append.py",
    "surveys/ledger/test_changes.py",
    "surveys/ledger/test_guarded_notes.py",
    "surveys/ledger/test_verifying_changes.py",
    "surveys/ratings/test_ratings.py",
    "surveys/results/test_anonymous.py",
    "surveys/test_cli_surveys.py",
    "test_logs.py",
    "web/test_connections_held.py",
    "web/test_context.py",
    "web/test_csrf.py",
    "web/test_database_faults.py",
    "web/test_forms.py",
    "web/test_human_dates.py",
    "web/test_sessions.py",
    "webhooks/test_commands.py",
    "webhooks/test_rules.py",
    "webhooks/test_storm.py",
    "webhooks/test_types.py",
)
# All but these: each sends a statement that no file that stays sends. And all but those that do several things at once:
# another version may lock otherwise.
OF_ITS_OWN = (
    "accounts/test_one_time_links.py::test_a_link_asks_about_the_tokens_too_a_tenants_included",
    "clock/bindings/test_actions.py::test_a_part_of_many_leaves_what_another_suggestion_of_another_part_names",
    "clock/bindings/test_undoing.py::test_a_worker_of_an_older_version_leaves_an_act_alone_whose_items_are_not_named",
    "clock/bindings/test_undoing.py::test_an_act_that_is_over_does_nothing",
    "clock/bindings/test_undoing.py::test_what_workers_of_an_older_version_did_is_counted_too",
    "clock/bindings/test_undoing.py::test_where_the_punches_are_very_many_the_job_names_the_records_too",
    "clock/importing/test_import_due.py::test_a_punch_that_only_opened_a_door_counts_once_a_person_says_that_the_terminal_is_a_clock",
    "clock/mirror/test_gone.py::test_a_question_is_over_when_everything_came_again",
    "clock/mirror/test_gone.py::test_a_record_that_a_person_deletes_is_made_again_by_retry_without_its_gone_punch",
    "clock/mirror/test_listing_rows.py::test_two_rows_that_mean_another_punch_are_set_aside_and_the_rest_is_written",
    "clock/mirror/test_punch_edits.py::test_two_rows_with_both_are_set_aside_and_everything_else_continues",
    "clock/mirror/test_shortfalls.py::test_a_server_that_counts_one_too_many_everywhere_is_accepted_once_and_stays_so",
    "clock/mirror/test_shortfalls.py::test_accepted_days_can_be_read_again_and_are_complete_where_the_punches_have_come",
    "clock/punches/test_missing_marks.py::test_judging_what_is_marked_gives_what_judging_everything_would",
    "clock/punches/test_rebinding.py::test_a_story_of_owners_ends_as_if_all_had_been_marked_at_once",
    "clock/punches/test_rebinding.py::test_the_request_writes_no_punch_of_a_re_bound_code_and_none_of_a_deactivated_person",
    "clock/review/test_decisions.py::test_a_retry_of_many_people_is_left_to_the_import",
    "clock/review/test_fixes.py::test_a_suggested_employee_who_has_a_code_is_not_accepted_at_once",
    "clock/review/test_settling.py::test_a_released_punch_has_no_mark",
    "clock/review/test_settling.py::test_many_are_settled_at_once_with_one_row_in_the_audit",
    "clock/sync/test_run.py::test_a_later_start_of_the_history_has_no_punch_purged",
    "clock/sync/test_run.py::test_a_profile_without_locations_skips_them_and_one_with_them_does_not",
    "clock/sync/test_run.py::test_a_run_that_resumes_a_dead_one_and_dies_as_well_is_taken_up_by_the_same_job",
    "clock/sync/test_run.py::test_a_second_start_joins_the_first",
    "clock/sync/test_run.py::test_punches_of_strangers_make_people_and_terminals_that_can_be_bound",
    "clock/sync/test_run.py::test_somebody_who_leaves_is_marked_and_unmarked_on_return",
    "surveys/anonymous/test_answering.py::test_a_version_that_is_closed_takes_no_answer",
    "surveys/anonymous/test_answering.py::test_an_archived_one_comes_back_as_its_next_version",
    "surveys/asking/test_languages.py::test_a_survey_without_translations_gives_an_old_app_no_new_field",
    "surveys/asking/test_responding.py::test_one_that_names_its_version_stands_whatever_was_published_since",
    "surveys/authoring/test_actions.py::test_saving_keeps_the_ids_of_questions_that_stay_and_gives_ids_to_new_ones",
    "surveys/authoring/test_new_versions.py::test_a_new_version_asks_everyone_again_whether_or_not_its_content_changed",
    "surveys/demo/test_seed.py::test_one_survey_waits_for_everybody_who_signs_in",
    "surveys/demo/test_seed.py::test_the_anonymous_survey_is_closed_with_a_group_among_the_others",
    "surveys/demo/test_seed.py::test_the_command_names_what_goes_and_what_is_kept_since_people_met_it",
    "surveys/demo/test_seed.py::test_the_command_rehearses_makes_and_takes_back_a_tenants_demo",
    "surveys/ledger/test_verifying_changes.py::test_an_untouched_chain_of_both_tables_fits",
    "surveys/ratings/test_ratings.py::test_what_is_offered_says_how_the_person_rated_today",
    "web/test_connections_held.py::test_asking_the_time_clock_holds_those_of_its_sign_in_alone",
    "web/test_database_faults.py::test_the_platform_may_have_all_connections_as_long_as_there_is_no_tenant",
    "webhooks/test_types.py::test_surveys_that_are_published_and_what_people_say",
)
_AT_ONCE = re.compile(r"\b(gather|create_task|TaskGroup|Thread)\(")
# Each process that looks at pages starts a portal and a browser of its own, for half a minute of a small machine: the
# one that walks through all pages, and one for all the rest.
_ALONE = "tests/browser/test_pages.py"
_TOGETHER = "tests/browser/"


def keep_those_with_a_database(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes out in place what would do the very same beside another PostgreSQL."""
    kept = [item for item in items if _asks_the_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if not _asks_the_database(item)])
    items[:] = kept


def _asks_the_database(item: pytest.Item) -> bool:
    file = item.path.relative_to(_TESTS).as_posix()
    name = f"{file}::{item.name}"
    if name.startswith(THIS_SIDE) or (_is_of_pages(file) and not name.startswith(IN_PAGES)):
        return False
    if file in SAME_STATEMENTS and not name.startswith(OF_ITS_OWN) and not _does_several_at_once(item):
        return False
    return not _DATABASE.isdisjoint(getattr(item, "fixturenames", ()))


def _is_of_pages(file: str) -> bool:
    return not PAGES.isdisjoint(file.split("/"))


def _does_several_at_once(item: pytest.Item) -> bool:
    return bool(_AT_ONCE.search(inspect.getsource(getattr(item, "function", type(item)))))


def is_left_out(path: Path) -> bool:
    """True for a file of which no test is kept: to import it takes time too."""
    if not path.name.startswith("test_") or not path.is_relative_to(_TESTS):
        return False
    file = path.relative_to(_TESTS).as_posix()
    if file.startswith(THIS_SIDE) or (_is_of_pages(file) and not any(one.startswith(file) for one in IN_PAGES)):
        return True
    own = any(one.startswith(f"{file}::") for one in OF_ITS_OWN)
    return file in SAME_STATEMENTS and not own and not _AT_ONCE.search(path.read_text(encoding="utf-8"))


def long_ones_first(items: list[pytest.Item]) -> None:
    """Sorts in place; all else keeps its order."""
    place = {_TESTS / name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path, len(LONG)))


class InFiles(LoadFileScheduling):
    """A file is run by one process, and the flows of the browser are as one file."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return _TOGETHER if file.startswith(_TOGETHER) and file != _ALONE else file


def processes() -> int:
    """Three for two cores: while one test waits for a server, a browser or a deadline, another one can use the core.
    More of them lose in beginning what they gain in waiting."""
    return min((3 * len(os.sched_getaffinity(0)) + 1) // 2, _MOST)
