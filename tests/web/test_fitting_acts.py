"""A list offers the acts that can change rows of its filter, and no others."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

import pytest
from litestar.datastructures import MultiDict

from app.clock.pages import employee_list, transaction_filters, transaction_list
from app.db.session import Database
from app.host.pages import attendance_list, people
from app.host.pages.admin import jobs, tenants, users
from app.surveys.pages import survey_list
from app.web.list_spec import BulkAction, Filter, where_any_of
from tests.conftest import Browser
from tests.host.pages.admin.test_jobs import job

CODES = (*employee_list.BULK[:1], employee_list.ADD, *employee_list.BULK[1:])
CASES = {
    "people": (people.SPEC.filters, people.SPEC.bulk, {
        "": "deactivate activate delete",
        "state=active": "deactivate delete",
        "state=inactive": "activate delete",
        "state=deleted": "restore",
    }),
    "users": (users.SPEC.filters, users.SPEC.bulk, {
        "": "deactivate activate",
        "state=locked": "deactivate",
        "state=deactivated": "activate",
    }),
    "tenants": (tenants.SPEC.filters, tenants.SPEC.bulk, {
        "": "deactivate activate",
        "state=no_administrator": "deactivate",
        "state=deactivated": "activate",
    }),
    "jobs": (jobs.SPEC.filters, jobs.SPEC.bulk, {"": "retry", "status=failed": "retry", "status=done": ""}),
    "attendance": (attendance_list.FILTERS, attendance_list.BULK, {
        "": "approved rejected auto_closed pending delete",
        "status=approved": "rejected auto_closed pending delete",
        "status=approved&status=pending": "approved rejected auto_closed pending delete",
    }),
    "surveys": (survey_list.FILTERS, survey_list.BULK, {
        "": "publish archive delete",
        "status=draft": "publish delete",
        "status=published": "archive",
        "status=archived": "publish",
    }),
    "codes": (employee_list.SPEC.filters, CODES, {
        "": "accept add reject match_again clear ignore un_ignore",
        "state=ignored": "un_ignore",
        "state=not_found": "add match_again ignore",
        "state=suggested&state=ignored": "accept add reject match_again ignore un_ignore",
    }),
    "punches": (transaction_filters.FILTERS, transaction_list.bulk(edited_and_gone=False), {
        "": "retry use settle unsettle",
        # A punch that the server no longer has waits with its record, and is settled, whatever its outcome.
        "outcome=imported": "use settle unsettle",
        "outcome=imported&settled=yes": "unsettle",
        "outcome=double_tap": "retry use settle unsettle",
        "outcome=awaiting": "retry unsettle",
        "outcome=awaiting&settled=no": "retry",
        "outcome=only_one_punch": "retry settle unsettle",
        "outcome=only_one_punch&settled=no": "retry settle",
        "settled=yes": "retry unsettle",
        "outcome=arrived_late&late=kept": "retry unsettle",
        "outcome=arrived_late&late=open": "retry use settle",
        "gone=open": "use settle",
        "outcome=imported&gone=all": "use settle unsettle",
    }),
    # A punch of any outcome may wait with the record that it left.
    "punches with one that was edited and is gone": (
        transaction_filters.FILTERS, transaction_list.bulk(edited_and_gone=True), {
            "outcome=awaiting": "retry use settle unsettle",
            "outcome=unjudged&settled=no": "retry use settle",
            "outcome=awaiting&settled=yes": "retry unsettle",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("filters", "bulk", "query", "offered"),
    [(filters, bulk, query, text) for filters, bulk, by in CASES.values() for query, text in by.items()],
    ids=[f"{name}?{query}" for name, (_, _, by) in CASES.items() for query in by],
)
def test_an_act_is_offered_where_it_can_change_something(
    filters: Sequence[Filter], bulk: Sequence[BulkAction], query: str, offered: str
) -> None:
    asked = MultiDict(parse_qsl(query))
    values = {one.name: one.read(asked) for one in filters if one.kind != "range"}
    assert [one.value for one in bulk if one.fits(values)] == offered.split()


def test_without_the_filter_an_act_fits() -> None:
    fits = where_any_of("state", ("a",))
    assert fits({})
    assert fits({"state": None})
    assert not fits({"state": "b"})
    assert fits({"state": ["b", "a"]})


async def test_the_page_offers_what_fits_and_no_boxes_where_nothing_does(database: Database, alice: Browser) -> None:
    await job(database, "queued")
    await alice.submit("/people/add", {"name": "Ada", "id_number": "F-1", "active": "1"})
    page = (await alice.get("/people?state=active")).text
    assert 'value="deactivate"' in page
    assert 'value="restore"' not in page
    done = (await alice.get("/admin/jobs?status=queued")).text
    assert "/admin/jobs/" in done.split("<tbody>")[1]
    assert "data-bulk-item" not in done
    assert "data-bulk-page" not in done
