"""What the worked cases of docs/rules.md leave open: the same store judged several times.
The cases themselves: test_rules_page.py."""

from app.clock.pairing.inputs import PairingEmployee
from tests.clock.mirror_store import Store

SAME = "imported"


def test_case_24_a_deleted_record_comes_back_only_when_a_person_retries():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    for _ in range(3):
        store.judge()
        assert set(store.outcomes().values()) == {"attendance_deleted"}
        assert store.shown() == []
    store.retry("O 17:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]
    assert not any(punch.retry or punch.lifted for punch in store.punches.values())


def test_case_25_a_code_that_is_bound_back_finds_its_record_again():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.who = PairingEmployee(2)
    store.judge()
    assert set(store.outcomes().values()) == {"arrived_late"}
    store.who = PairingEmployee(1)
    store.judge()
    assert set(store.outcomes().values()) == {SAME}


def test_case_27_a_punch_two_days_ahead_is_judged_again_as_time_passes():
    store = Store("I Wed 08:00, O Wed 17:00")
    store.judge("Mon 08:00")
    assert set(store.outcomes().values()) == {"future_timestamp"}
    store.judge("Tue 08:00")
    assert store.outcomes() == {"I Wed 08:00": "awaiting", "O Wed 17:00": "future_timestamp"}
    store.judge("Wed 18:00")
    assert set(store.outcomes().values()) == {SAME}
