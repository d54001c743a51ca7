"""In which order and by how many processes the suite is run: files that take long begin first, and every other test waits."""

import os
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

# A file is run by one process, which takes the next one when it is through. What takes longest stands at the top, so that
# nothing long is left for the end; what waits for processes and what keeps a core busy take turns.
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
# What these ask about lies on this side of the database: what is typed, what a client or a proxy does, what a time-clock server says,
# how a process begins and ends, and what it takes of memory. What they store on the way, others store as well.
THIS_SIDE = (
    "clock/sync/test_sync_faults.py",
    "deploy/test_proxies.py",
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
# The tests in these folders ask for pages and answers one by one. What each of them asks of the database is asked beside another server too: by
# test_odd_requests, which opens every page, sends every form and asks every address for programs, by test_flat_reads and test_routes,
# and by the tests of the rooms below them.
PAGES = {"pages", "api"}
# All but these. They ask what another version or role may answer otherwise and nothing else asks: which transactions are open, who of
# several that come at once waits and who is refused, and who may end a session.
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
# Each process that looks at pages starts a portal and a browser of its own, for half a minute of a small machine: the one that
# walks through all pages, and one for all the rest.
_ALONE = "tests/browser/test_pages.py"
_TOGETHER = "tests/browser/"


def keep_those_with_a_database(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes out in place what would do the very same beside another PostgreSQL."""
    kept = [item for item in items if _asks_the_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if not _asks_the_database(item)])
    items[:] = kept


def _asks_the_database(item: pytest.Item) -> bool:
    place = item.path.relative_to(_TESTS)
    in_pages = not PAGES.isdisjoint(place.parts) and not f"{place.as_posix()}::{item.name}".startswith(IN_PAGES)
    if in_pages or place.as_posix().startswith(THIS_SIDE):
        return False
    return not _DATABASE.isdisjoint(getattr(item, "fixturenames", ()))


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
    """Three for two cores: while one test waits for a server, a browser or a deadline, another one can use the core. More of
    them lose in beginning what they gain in waiting."""
    return min((3 * len(os.sched_getaffinity(0)) + 1) // 2, _MOST)
